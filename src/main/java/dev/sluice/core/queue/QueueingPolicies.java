package dev.sluice.core.queue;

import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;

/** The queueing policies; a new one is registered here. */
public final class QueueingPolicies {

  private static final QueueingPolicy BEST_EFFORT_FIFO = new BestEffortFifo();
  private static final QueueingPolicy STRICT_FIFO = new StrictFifo();
  private static final QueueingPolicy ROUND_ROBIN = new BackoffPolicy(false);
  private static final QueueingPolicy STRICT_PRIORITY = new BackoffPolicy(true);

  private QueueingPolicies() {}

  /** The policy of a queueing strategy. */
  public static QueueingPolicy of(QueueingStrategy strategy) {
    return switch (strategy) {
      case BEST_EFFORT_FIFO -> BEST_EFFORT_FIFO;
      case STRICT_FIFO -> STRICT_FIFO;
      case ROUND_ROBIN -> ROUND_ROBIN;
      case STRICT_PRIORITY -> STRICT_PRIORITY;
    };
  }
}
