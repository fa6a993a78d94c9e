package dev.sluice.core.queue;

import java.util.Comparator;

/**
 * StrictFIFO: higher priority first, then by age. A head that can't be admitted blocks the queue
 * until it is admitted or another Workload becomes the head.
 */
final class StrictFifo implements QueueingPolicy {

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
