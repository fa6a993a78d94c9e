package dev.sluice.forecast.feed;

import dev.sluice.forecast.starts.StartForecast;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.RecordSize;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The Workloads that arrived lately, each as it was when it arrived
 * (docs/expected-starts.md#arrivals). Bounded in number and in memory, of which no namespace takes
 * what others need. Thread-safe.
 */
final class RecentArrivals {

  /** So many of a ClusterQueue are remembered, and are told of several. */
  static final int MOST_AT_ONCE = StartForecast.MOST_ARRIVALS;

  /**
   * So many are remembered in all, a large one counted for several; beyond that the namespace that
   * has most forgets its oldest.
   */
  static final int MOST = 5_000;

  /** A Workload counts once for each so many bytes, about, that it takes; about 20 MB in all. */
  static final int COUNTED_BYTES = 4 * 1024;

  /** A Workload that would be counted more often isn't remembered. */
  static final int MOST_OF_ONE = 8;

  /** By ClusterQueue, the latest last. Guarded by this object. */
  private final Map<String, Deque<Arrived>> byQueue = new HashMap<>();

  /** Guarded by this object. */
  private final Map<String, Share> byNamespace = new HashMap<>();

  /** Guarded by this object. */
  private int count;

  /** Guarded by this object. */
  private long last;

  /**
   * A Workload that is remembered.
   *
   * @param number of two arrivals the later one has the higher number
   * @param count for how many it counts
   */
  private record Arrived(long number, String clusterQueue, int count, CachedWorkload workload) {}

  /** What is remembered of a namespace, the latest last. */
  private static final class Share {
    private final Deque<Arrived> arrived = new ArrayDeque<>();
    private int count;

    private int count() {
      return count;
    }

    private long oldest() {
      return arrived.getFirst().number();
    }
  }

  /** A Workload has arrived at a ClusterQueue; a very large one is left out. */
  void arrived(String clusterQueue, CachedWorkload workload) {
    long counted = 1 + RecordSize.bytes(workload) / COUNTED_BYTES;
    if (counted <= MOST_OF_ONE) {
      add(clusterQueue, (int) counted, workload.with(CachedWorkload.Status.NEW));
    }
  }

  private synchronized void add(String clusterQueue, int counted, CachedWorkload workload) {
    Arrived latest = new Arrived(++last, clusterQueue, counted, workload);
    Deque<Arrived> of = byQueue.computeIfAbsent(clusterQueue, _ -> new ArrayDeque<>());
    of.addLast(latest);
    Share share = byNamespace.computeIfAbsent(workload.id().namespace(), _ -> new Share());
    share.arrived.addLast(latest);
    share.count += counted;
    count += counted;
    if (of.size() > MOST_AT_ONCE) {
      forget(of.getFirst());
    }
    while (count > MOST) {
      forget(largest().arrived.getFirst());
    }
  }

  /** The share that counts most; of equal ones that with the oldest arrival. */
  private Share largest() {
    return byNamespace.values().stream()
        .max(
            Comparator.comparingInt(Share::count)
                .thenComparing(Comparator.comparingLong(Share::oldest).reversed()))
        .orElseThrow();
  }

  private void forget(Arrived arrived) {
    byQueue.computeIfPresent(
        arrived.clusterQueue(),
        (_, of) -> {
          of.remove(arrived);
          return of.isEmpty() ? null : of;
        });
    byNamespace.computeIfPresent(
        arrived.workload().id().namespace(),
        (_, share) -> {
          share.arrived.remove(arrived);
          share.count -= arrived.count();
          return share.arrived.isEmpty() ? null : share;
        });
    count -= arrived.count();
  }

  /** The last arrivals at these ClusterQueues together, in the order of their creation. */
  synchronized List<CachedWorkload> of(Set<String> clusterQueues) {
    List<CachedWorkload> all =
        byQueue.entrySet().stream()
            .filter(each -> clusterQueues.contains(each.getKey()))
            .flatMap(each -> each.getValue().stream())
            .map(Arrived::workload)
            .sorted(Comparator.comparing(CachedWorkload::createdAt))
            .toList();
    return all.subList(Math.max(0, all.size() - MOST_AT_ONCE), all.size());
  }
}
