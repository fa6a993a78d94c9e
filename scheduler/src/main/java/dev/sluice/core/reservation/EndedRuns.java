package dev.sluice.core.reservation;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * What the runs of a quota tree use that are over at a time: summed up once, and kept up to date
 * from then on as Workloads get and lose quota. Whether a run is over by then must not change while
 * its holder is the same one.
 */
final class EndedRuns {

  private final Predicate<QuotaHolder> isOver;
  private final Map<ClusterQueueCache, QueueMoment.Gone> byQueue = new LinkedHashMap<>();
  private final Set<QuotaHolder> counted = new HashSet<>();

  /**
   * There are none so far.
   *
   * @param isOver whether the run of a holder is over by then
   */
  EndedRuns(Predicate<QuotaHolder> isOver) {
    this.isOver = isOver;
  }

  /** Records that a Workload has quota of a queue. */
  void holds(ClusterQueueCache queue, QuotaHolder holder) {
    if (isOver.test(holder) && counted.add(holder)) {
      byQueue
          .computeIfAbsent(queue, any -> new QueueMoment.Gone())
          .count(new QueueMoment.Run(queue, holder));
    }
  }

  /**
   * Records that a Workload has its quota no longer.
   *
   * @return false if the rest isn't known, because it was more than can be counted
   */
  boolean releases(ClusterQueueCache queue, QuotaHolder holder) {
    if (!counted.remove(holder)) {
      return true;
    }
    QueueMoment.Gone ofQueue = byQueue.get(queue);
    return ofQueue != null && ofQueue.discount(new QueueMoment.Run(queue, holder));
  }

  /** What they use; the caller may add to it. */
  QueueMoment.Gone gone() {
    QueueMoment.Gone all = new QueueMoment.Gone();
    byQueue.values().forEach(all::count);
    return all;
  }
}
