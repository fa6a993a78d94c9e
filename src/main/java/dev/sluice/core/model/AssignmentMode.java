package dev.sluice.core.model;

/** How a request fits a flavor (docs/scheduling-semantics.md#flavor-assignment), worst first. */
public enum AssignmentMode {
  /** Not at all, or not before something is given back. */
  NO_FIT,
  /** It would take preemption, and there is nobody whom it may preempt, or not enough. */
  NO_CANDIDATES,
  /** If others are preempted, of its own ClusterQueue among them. */
  PREEMPT,
  /** If others are preempted, all of them in other ClusterQueues that borrow. */
  RECLAIM,
  /** As it is. */
  FIT
}
