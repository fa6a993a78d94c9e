package dev.sluice.core.waiting;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.queue.QueuedWorkload;

/**
 * Which of some Workloads can't start at a moment, whichever flavors they get, although quota was
 * released in their trees.
 */
public interface HeldBack {

  /**
   * How long a member of the class and the LocalQueue of a Workload of those may run if it can
   * start, in microseconds; {@link Long#MAX_VALUE} if that doesn't matter.
   */
  long longest(QueuedWorkload workload);

  /** Whether a Workload of those can't start. */
  boolean isHeldBack(QueuedWorkload workload);

  /** Why one can't start for which {@link #isHeldBack} is true. */
  Explanation explanation(QueuedWorkload workload);
}
