package dev.sluice.core.waiting;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import java.util.List;

/**
 * Which Workloads of some trees can't start at a moment, whichever flavors they get, although quota
 * was released in their trees.
 */
public interface HeldBack {

  /**
   * How long a member of the class and the LocalQueue of each of these Workloads may run if it can
   * start, in microseconds; {@link Long#MAX_VALUE} if that doesn't matter.
   */
  long[] longest(ClusterQueueCache queue, List<QueuedWorkload> workloads);

  /** Whether a Workload can't start. */
  boolean isHeldBack(ClusterQueueCache queue, QueuedWorkload workload);

  /** Why one can't start for which {@link #isHeldBack} is true. */
  Explanation explanation(ClusterQueueCache queue, QueuedWorkload workload);
}
