package dev.sluice.lab.demo;

/** The expectations of the multi-cluster scenario, in the order in which they are judged. */
public enum MultiClusterExpectation implements Expectation {
  /** The Job runs in the most preferred cluster that has capacity. */
  SMALL_ON_SITE("the small Job runs on site"),
  /** All pods are in one cluster and none in another. */
  LARGE_WHOLE_ON_REMOTE(
      "the large Job, bigger than the site's whole quota, runs whole on the remote cluster, never"
          + " partly"),
  /** The preferred cluster has no GPUs. */
  GPUS_WHERE_THEY_ARE("the Job that needs GPUs runs where GPUs are"),
  /** The Job in the manager has the status of the remote job. */
  LIVE_STATUS("all of them are seen, with live status, in the control cluster"),
  /** The Job is requeued at the timeout, not earlier. */
  REQUEUED_AFTER_TIMEOUT(
      "the remote cluster is cut off for longer than the worker-lost time-out: its running Job is"
          + " requeued"),
  /** The Job runs as soon as there is capacity. */
  RUNS_ELSEWHERE("once possible, the Job runs elsewhere"),
  /** Neither Job nor Workload nor pod is left. */
  NOTHING_LEFT("after each Job's end nothing of it is left on a worker"),
  /** The manager only schedules. */
  NO_POD_HERE("no pod of theirs ever exists in the control cluster"),
  /** The objects in the lost cluster are removed. */
  NEVER_TWICE(
      "nothing runs twice at the same time, neither while the link is cut nor once it is back");

  private final String text;

  MultiClusterExpectation(String text) {
    this.text = text;
  }

  @Override
  public String text() {
    return text;
  }
}
