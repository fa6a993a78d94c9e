package dev.sluice.core.queue;

import dev.sluice.core.model.LocalQueueId;
import java.util.HashMap;
import java.util.Map;

/** Numbers of the pending Workloads of one queue, in total and by LocalQueue. */
final class PendingCounts {

  private final Map<LocalQueueId, PendingCount> byLocalQueue = new HashMap<>();
  private PendingCount total = PendingCount.NONE;

  PendingCount total() {
    return total;
  }

  PendingCount of(LocalQueueId localQueue) {
    return byLocalQueue.getOrDefault(localQueue, PendingCount.NONE);
  }

  /** Adds to the numbers; negative arguments subtract. */
  void add(LocalQueueId localQueue, int active, int inadmissible) {
    total = total.plus(active, inadmissible);
    PendingCount count = of(localQueue).plus(active, inadmissible);
    if (count.equals(PendingCount.NONE)) {
      byLocalQueue.remove(localQueue);
    } else {
      byLocalQueue.put(localQueue, count);
    }
  }

  /** Counts the members of a class as active that were counted as inadmissible. */
  void activate(EquivalenceClass equivalenceClass) {
    equivalenceClass.countsByLocalQueue().forEach((queue, size) -> add(queue, size, -size));
  }

  /** Counts the members of a class as inadmissible that were counted as active. */
  void deactivate(EquivalenceClass equivalenceClass) {
    equivalenceClass.countsByLocalQueue().forEach((queue, size) -> add(queue, -size, size));
  }
}
