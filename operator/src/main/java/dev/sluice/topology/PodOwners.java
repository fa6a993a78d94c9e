package dev.sluice.topology;

import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The Workloads by the name that their pods know: their own one, or that of the first slice of an
 * elastic job, whose pods outlive their slice. Thread-safe.
 */
final class PodOwners {

  private final WorkloadLister workloads;

  /** The names of slices that are not the first one of their job. */
  private final Map<PodStore.Key, Set<String>> laterSlices = new ConcurrentHashMap<>();

  PodOwners(WorkloadLister workloads) {
    this.workloads = workloads;
  }

  /** The name that the pods of a Workload know. */
  static PodStore.Key keyOf(CachedWorkload workload) {
    String name = workload.elastic() ? workload.sliceName() : workload.id().name();
    return new PodStore.Key(workload.id().namespace(), name);
  }

  /** A Workload was created, changed or deleted. */
  void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (after != null && isLater(after)) {
      laterSlices
          .computeIfAbsent(keyOf(after), any -> ConcurrentHashMap.newKeySet(1))
          .add(after.id().name());
    }
    if (before != null
        && isLater(before)
        && (after == null || !keyOf(after).equals(keyOf(before)))) {
      laterSlices.computeIfPresent(
          keyOf(before),
          (key, names) -> {
            names.remove(before.id().name());
            return names.isEmpty() ? null : names;
          });
    }
  }

  private static boolean isLater(CachedWorkload workload) {
    return !keyOf(workload).workload().equals(workload.id().name());
  }

  /** All Workloads that pods may belong to. */
  List<CachedWorkload> of(PodStore.Key key) {
    List<String> names = new ArrayList<>(laterSlices.getOrDefault(key, Set.of()));
    names.add(key.workload());
    return names.stream()
        .flatMap(name -> workloads.get(key.namespace(), name).stream())
        .filter(workload -> keyOf(workload).equals(key))
        .toList();
  }

  /**
   * The admitted Workload that pods belong to: of several slices, the one that replaced the others.
   */
  Optional<CachedWorkload> running(PodStore.Key key) {
    List<CachedWorkload> running =
        of(key).stream()
            .filter(each -> each.admitted() && !each.evicted() && !each.finished())
            .toList();
    return running.stream()
        .filter(
            each ->
                running.stream().noneMatch(other -> other.replacedSlice().equals(each.id().name())))
        .max(
            Comparator.comparing(CachedWorkload::createdAt)
                .thenComparing(each -> each.id().name()));
  }
}
