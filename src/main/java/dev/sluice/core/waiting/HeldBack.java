package dev.sluice.core.waiting;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.queue.QueuedWorkload;

/**
 * Which of some Workloads can't start at a moment, whichever flavors they get, although quota was
 * released in their trees.
 */
public interface HeldBack {

  /** Whether a Workload of those can't start. */
  boolean isHeldBack(QueuedWorkload workload);

  /** Why one can't start for which {@link #isHeldBack} is true. */
  Explanation explanation(QueuedWorkload workload);
}
