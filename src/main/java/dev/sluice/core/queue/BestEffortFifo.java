package dev.sluice.core.queue;

import java.util.Comparator;

/**
 * BestEffortFIFO: higher priority first, then by age. A class that doesn't fit is set aside as
 * inadmissible, and the Workloads behind it are evaluated.
 */
final class BestEffortFifo implements QueueingPolicy {

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
