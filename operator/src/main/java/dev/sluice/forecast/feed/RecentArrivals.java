package dev.sluice.forecast.feed;

import dev.sluice.forecast.starts.StartForecast;
import dev.sluice.workload.record.CachedWorkload;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;

/**
 * The Workloads that arrived lately, each as it was when it arrived
 * (docs/expected-starts.md#arrivals). Bounded. Thread-safe.
 */
final class RecentArrivals {

  /** So many of a ClusterQueue are remembered, and are told of several. */
  static final int MOST_AT_ONCE = StartForecast.MOST_ARRIVALS;

  /**
   * So many are remembered in all; a queue at which none arrived for longest is forgotten first.
   */
  static final int MOST = 5_000;

  /**
   * By ClusterQueue, that of the latest arrival last: being read changes no order. Guarded by this
   * object.
   */
  private final LinkedHashMap<String, Deque<CachedWorkload>> byQueue =
      new LinkedHashMap<>(16, 0.75f, true);

  /** Guarded by this object. */
  private int size;

  /** A Workload has arrived at a ClusterQueue. */
  synchronized void arrived(String clusterQueue, CachedWorkload workload) {
    Deque<CachedWorkload> of = byQueue.computeIfAbsent(clusterQueue, _ -> new ArrayDeque<>());
    of.addLast(workload);
    size++;
    if (of.size() > MOST_AT_ONCE) {
      of.removeFirst();
      size--;
    }
    while (size > MOST) {
      size -= byQueue.pollFirstEntry().getValue().size();
    }
  }

  /** The last arrivals at these ClusterQueues together, in the order of their creation. */
  synchronized List<CachedWorkload> of(Set<String> clusterQueues) {
    List<CachedWorkload> all =
        byQueue.entrySet().stream()
            .filter(each -> clusterQueues.contains(each.getKey()))
            .flatMap(each -> each.getValue().stream())
            .sorted(Comparator.comparing(CachedWorkload::createdAt))
            .toList();
    return all.subList(Math.max(0, all.size() - MOST_AT_ONCE), all.size());
  }
}
