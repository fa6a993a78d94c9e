package dev.sluice.lab.demo;

/** The expectations of the scenario of all kinds, in order. */
public enum KindsExpectation implements Expectation {
  /** Nothing starts by itself. */
  WAITS("with an empty quota a job of each kind waits: suspended without pods, or with gated pods"),
  /** Every kind is started and ends. */
  RUNS("with room for three at a time each of them runs; what ends by itself ends well"),
  /** There is more to do than room. */
  SHARES("the pool is shared: never more than its quota is held, and others wait for it"),
  /** Pods keep to what is held. */
  WITHIN_QUOTA(
      "no pod of any kind runs beyond the quota, at any write to the store"
          + " (those of a deleted job count until its Workload is gone)"),
  /** No kind is counted twice. */
  ONE_WORKLOAD("each job has its Workload, and the Jobs and pods that it made have none"),
  /** Nothing remains. */
  NOTHING_LEFT("deleted at the end, they leave neither pods nor Workloads, and the pool is empty");

  private final String text;

  KindsExpectation(String text) {
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
