package dev.sluice.lab.demo;

/** The expectations of the scenario of Kube Queue, in order. */
public enum KubeQueueExpectation implements Expectation {
  /** The limits as they are. */
  PLAIN("a tree makes its queues; at an over-sell rate of 1 its limit of 1 CPU lets one Job run"),
  /** The limits twice. */
  OVERSOLD("at a rate of 2 the same limit lets two Jobs run, and a third waits"),
  /** Nothing is lost. */
  ALL_RUN("the same 60 Jobs come to three queues, and all of them run"),
  /** Quota is kept. */
  WITHIN_QUOTA("no queue ever gives more than its 8 CPUs"),
  /** The difference. */
  STARVES("big Jobs wait longer with Round than with Block"),
  /** The order. */
  IN_ORDER("with Block no Job is passed by one behind it in the queue"),
  /** What priorities are for. */
  PRIORITY("with Block urgent Jobs wait less than others");

  private final String text;

  KubeQueueExpectation(String text) {
    this.text = text;
  }

  @Override
  public int number() {
    return ordinal() + 1;
  }

  @Override
  public String text() {
    return text;
  }
}
