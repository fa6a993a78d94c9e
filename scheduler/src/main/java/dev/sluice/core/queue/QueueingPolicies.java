package dev.sluice.core.queue;

import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import java.util.Comparator;

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

  /**
   * BestEffortFIFO: higher priority first, then by age. A class that doesn't fit is set aside as
   * inadmissible, and the Workloads behind it are evaluated.
   */
  private static final class BestEffortFifo implements QueueingPolicy {

    @Override
    public Comparator<QueuedWorkload> order() {
      return QueuedWorkload.BY_PRIORITY_AND_AGE;
    }

    @Override
    public boolean headBlocks() {
      return false;
    }

    @Override
    public boolean keepsPreemptorFirst() {
      return true;
    }

    /** An inadmissible class waits while an active Workload comes before it. */
    @Override
    public boolean isCandidate(PendingQueue pending, EquivalenceClass first) {
      return pending.isHead(first);
    }
  }

  /**
   * StrictFIFO: higher priority first, then by age. A head that can't be admitted blocks the queue
   * until it is admitted or another Workload becomes the head.
   */
  private static final class StrictFifo implements QueueingPolicy {

    @Override
    public Comparator<QueuedWorkload> order() {
      return QueuedWorkload.BY_PRIORITY_AND_AGE;
    }

    @Override
    public boolean headBlocks() {
      return true;
    }

    @Override
    public boolean keepsPreemptorFirst() {
      return false;
    }

    /**
     * Only classes of blocking heads are asked about. A class whose Workload blocks the queue no
     * longer is dropped by the caller.
     */
    @Override
    public boolean isCandidate(PendingQueue pending, EquivalenceClass first) {
      return true;
    }
  }

  /**
   * RoundRobin and StrictPriority: higher priority first, then by age. A Workload that doesn't fit
   * pauses, and the Workloads behind it are evaluated. With RoundRobin only the end of its pause
   * brings it back; with StrictPriority a release of quota in the queue does, too, so that
   * evaluation begins again with the first Workload (docs/queueing-policies.md#roundrobin).
   */
  private static final class BackoffPolicy implements QueueingPolicy {

    private final boolean releaseEndsPauses;

    BackoffPolicy(boolean releaseEndsPauses) {
      this.releaseEndsPauses = releaseEndsPauses;
    }

    @Override
    public Comparator<QueuedWorkload> order() {
      return QueuedWorkload.BY_PRIORITY_AND_AGE;
    }

    @Override
    public boolean headBlocks() {
      return false;
    }

    /** With StrictPriority the first Workload is tried first even if another one preempted. */
    @Override
    public boolean keepsPreemptorFirst() {
      return !releaseEndsPauses;
    }

    @Override
    public boolean backsOff() {
      return true;
    }

    @Override
    public boolean releaseEndsPauses() {
      return releaseEndsPauses;
    }

    /** No class of these queues becomes inadmissible. */
    @Override
    public boolean isCandidate(PendingQueue pending, EquivalenceClass first) {
      return false;
    }
  }
}
