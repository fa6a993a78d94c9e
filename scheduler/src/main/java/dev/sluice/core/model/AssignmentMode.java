package dev.sluice.core.model;

/** How a request fits a flavor (docs/scheduling-semantics.md#flavor-assignment), worst first. */
public enum AssignmentMode {
  /** The request doesn't fit and no preemption can make it fit now. */
  NO_FIT,
  /** The request needs preemption, but no candidates exist, or too few. */
  NO_CANDIDATES,
  /**
   * The request fits after preemption of Workloads, at least one of them in the same ClusterQueue.
   */
  PREEMPT,
  /** The request fits after preemption of Workloads in other ClusterQueues, which borrow. */
  RECLAIM,
  /** The request fits without preemption. */
  FIT
}
