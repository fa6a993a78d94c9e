package dev.sluice.core.queue;

import java.util.Comparator;

/**
 * RoundRobin and StrictPriority: higher priority first, then by age. A Workload that doesn't fit
 * pauses, and the Workloads behind it are evaluated. With RoundRobin only the end of its pause
 * brings it back; with StrictPriority a release of quota in the queue does, too, so that evaluation
 * begins again with the first Workload (docs/queueing-policies.md#roundrobin).
 */
final class BackoffPolicy implements QueueingPolicy {

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
