package dev.sluice.checks.multikueue.sync;

import dev.sluice.checks.multikueue.placement.ClusterCandidates;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.WorkloadLister;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The slices of elastic jobs that run in workers: one remote job has them one after the other
 * (docs/multikueue.md#elastic-jobs). Thread-safe.
 */
final class ElasticSlices {

  private static final Duration UNTIL_PLACED = Duration.ofSeconds(2);

  private final WorkloadLister workloads;

  ElasticSlices(WorkloadLister workloads) {
    this.workloads = workloads;
  }

  /**
   * The workers that a Workload may use: a replacement follows the slice that it replaces.
   *
   * @param again called with the delay after which to look again even without an event
   */
  ClusterCandidates limit(
      WorkloadGroup workloadGroup, ClusterCandidates candidates, Consumer<Duration> again) {
    Optional<CachedWorkload> replaced = workloadGroup.workload().flatMap(this::replaced);
    if (replaced.isEmpty()) {
      return candidates;
    }
    String cluster = cluster(replaced.get());
    if (cluster.isEmpty()) {
      again.accept(UNTIL_PLACED);
      return candidates.without(any -> true, "the slice that it replaces runs nowhere yet");
    }
    return candidates.without(
        name -> !name.equals(cluster), "the slice that it replaces runs in \"" + cluster + "\"");
  }

  /** The slice that a Workload replaces, while that is not over. */
  Optional<CachedWorkload> replaced(CachedWorkload workload) {
    return workload.elastic() && !workload.replacedSlice().isEmpty()
        ? workloads
            .get(workload.id().namespace(), workload.replacedSlice())
            .filter(slice -> isOfSameJob(slice, workload) && !slice.finished() && !slice.deleting())
        : Optional.empty();
  }

  /** Whether a replacement of a slice runs in a worker already, so that the slice only ends. */
  boolean isSuperseded(CachedWorkload workload) {
    return workload.elastic()
        && !workload.finished()
        && workload
            .owner()
            .filter(
                owner ->
                    workloads.ownedBy(owner.uid()).stream()
                        .filter(other -> !other.finished() && !other.deleting())
                        .filter(other -> other.replacedSlice().equals(workload.id().name()))
                        .anyMatch(other -> !cluster(other).isEmpty()))
            .isPresent();
  }

  /** Whether a remote job names another slice of the same job. */
  boolean isOther(CachedWorkload workload, String named) {
    return workload.elastic()
        && !named.equals(workload.id().name())
        && workloads
            .get(workload.id().namespace(), named)
            .filter(slice -> isOfSameJob(slice, workload))
            .isPresent();
  }

  private static boolean isOfSameJob(CachedWorkload slice, CachedWorkload other) {
    return slice.elastic()
        && slice.sliceName().equals(other.sliceName())
        && slice.owner().equals(other.owner());
  }

  private static String cluster(CachedWorkload workload) {
    return workload.status().remotePlacement().cluster();
  }
}
