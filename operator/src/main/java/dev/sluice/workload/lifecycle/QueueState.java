package dev.sluice.workload.lifecycle;

/** The state of a queue, as far as it matters to the Workloads of the queue. */
public enum QueueState {
  /** The queue doesn't exist. */
  MISSING,
  /** The queue is being deleted. */
  TERMINATING,
  /** The queue admits no Workloads; admitted Workloads keep running. */
  HELD,
  /** The queue admits no Workloads, and admitted Workloads are evicted. */
  DRAINED,
  /** The queue exists and is not stopped. */
  OPEN;

  /** Whether a stop policy is set. */
  boolean stopped() {
    return this == HELD || this == DRAINED;
  }
}
