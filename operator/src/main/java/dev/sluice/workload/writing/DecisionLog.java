package dev.sluice.workload.writing;

/** The logger of decisions about Workloads, which can be turned off alone. */
public final class DecisionLog {

  /**
   * Name of the logger of what was decided about single Workloads: quota reserved, preempted,
   * evicted, why they wait.
   */
  public static final String NAME = "dev.sluice.decisions";

  private DecisionLog() {}
}
