package dev.sluice.workload.lifecycle;

/** How a queue stands to the Workloads in it. */
public enum QueueState {
  /** It doesn't exist. */
  MISSING,
  /** It is being deleted. */
  TERMINATING,
  /** It takes no more Workloads; those admitted run on. */
  HELD,
  /** It takes no more Workloads, and sends back those admitted. */
  DRAINED,
  /** It is there and not stopped. */
  OPEN;

  /** Whether somebody stopped it. */
  boolean stopped() {
    return this == HELD || this == DRAINED;
  }
}
