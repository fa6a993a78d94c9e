package dev.sluice.jobs.kinds.statefulset;

import dev.sluice.workload.record.CachedWorkload;
import java.util.List;
import java.util.Optional;

/**
 * How the pods of a StatefulSet are divided among its Workloads (docs/pods.md#scaling).
 *
 * @param list the ranges in order, without gaps; all but the last hold quota. Empty while the set
 *     has no Workload
 * @param superfluous Workloads of the set whose pods belong to another range, or to none
 * @param next the name of a Workload for the pods after the last range
 * @param remote whether the pods run in another cluster
 * @param known how many pods of the set are known, counted up to the one with the highest index
 */
record ReplicaRanges(
    List<ReplicaRange> list,
    List<CachedWorkload> superfluous,
    String next,
    boolean remote,
    int known) {

  ReplicaRanges {
    list = List.copyOf(list);
    superfluous = List.copyOf(superfluous);
  }

  /** The range of the pod with this many pods before it. */
  Optional<ReplicaRange> find(int place) {
    return list.stream().filter(range -> range.covers(place)).findFirst();
  }

  /** The number of pods that the ranges are for. */
  int end() {
    return list.isEmpty() ? 0 : list.getLast().end();
  }

  /** Whether quota is to be given back for pods that still exist. */
  boolean awaitsPods(CachedStatefulSet set) {
    return end() > set.replicas() && known > set.replicas();
  }
}
