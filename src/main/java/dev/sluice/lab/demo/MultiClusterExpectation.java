package dev.sluice.lab.demo;

/** What the story of many clusters is about, in its order. */
public enum MultiClusterExpectation implements Expectation {
  /** Where it is first in the order of preference, and fits. */
  SMALL_ON_SITE("the small Job runs on site"),
  /** All pods in one cluster, none anywhere else. */
  LARGE_WHOLE_ON_REMOTE(
      "the large Job, bigger than the site's whole quota, runs whole on the remote cluster, never"
          + " partly"),
  /** There are none on site. */
  GPUS_WHERE_THEY_ARE("the Job that needs GPUs runs where GPUs are"),
  /** The Job where it was submitted says what the one that runs says. */
  LIVE_STATUS("all of them are seen, with live status, in the control cluster"),
  /** It only decides. */
  NO_POD_HERE("no pod of theirs ever exists in the control cluster"),
  /** Neither Job nor Workload nor pod. */
  NOTHING_LEFT("after each Job's end nothing of it is left on a worker"),
  /** Not before the time-out, and then at once. */
  REQUEUED_AFTER_TIMEOUT(
      "the remote cluster is cut off for longer than the worker-lost time-out: its running Job is"
          + " requeued"),
  /** As soon as there is room. */
  RUNS_ELSEWHERE("once possible, the Job runs elsewhere"),
  /** What the lost cluster had of it is gone. */
  NEVER_TWICE(
      "nothing runs twice at the same time, neither while the link is cut nor once it is back");

  private final String text;

  MultiClusterExpectation(String text) {
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
