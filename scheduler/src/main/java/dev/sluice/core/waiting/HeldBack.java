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
   * What the members of a class ask for that are of one LocalQueue; the same as long as the quota
   * trees have the same shapes.
   */
  interface Request {}

  /** What a Workload asks for, and all members of its class that are of its LocalQueue. */
  Request request(ClusterQueueCache queue, QueuedWorkload workload);

  /**
   * How long a Workload with each of these requests may run if it can start, in microseconds;
   * {@link Long#MAX_VALUE} if that doesn't matter.
   */
  long[] longest(ClusterQueueCache queue, List<Request> requests);

  /** Whether a Workload can't start. */
  boolean isHeldBack(ClusterQueueCache queue, QueuedWorkload workload);

  /** Why one can't start for which {@link #isHeldBack} is true. */
  Explanation explanation(ClusterQueueCache queue, QueuedWorkload workload);
}
