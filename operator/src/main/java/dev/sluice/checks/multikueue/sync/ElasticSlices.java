package dev.sluice.checks.multikueue.sync;

import dev.sluice.checks.multikueue.placement.ClusterCandidates;
import dev.sluice.checks.multikueue.sync.PlacementPlanner.LimitedCandidates;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.WorkloadLister;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

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

  /** The workers that a Workload may use: a replacement follows the slice that it replaces. */
  LimitedCandidates limit(RemoteWorkloadContext context, ClusterCandidates candidates) {
    Optional<CachedWorkload> replaced = context.workload().flatMap(this::replaced);
    if (replaced.isEmpty()) {
      return LimitedCandidates.of(candidates);
    }
    String cluster =
        context
            .workload()
            .map(ElasticSlices::cluster)
            .filter(own -> !own.isEmpty())
            .orElse(cluster(replaced.get()));
    if (cluster.isEmpty()) {
      return new LimitedCandidates(
          candidates.without(any -> true, "the slice that it replaces runs nowhere yet"),
          Optional.of(UNTIL_PLACED));
    }
    return LimitedCandidates.of(
        candidates.without(
            name -> !name.equals(cluster),
            "the slice that it replaces runs in \"" + cluster + "\""));
  }

  /** The slice that a Workload replaces, while that is not over. */
  Optional<CachedWorkload> replaced(CachedWorkload workload) {
    return workload.elastic() && !workload.replacedSlice().isEmpty()
        ? workloads
            .get(workload.id().namespace(), workload.replacedSlice())
            .filter(slice -> isOfSameJob(slice, workload) && !slice.finished() && !slice.deleting())
        : Optional.empty();
  }

  /** The worker that a replacement is bound to: that of the slice that it replaces. */
  Optional<String> followed(CachedWorkload workload) {
    return replaced(workload).map(ElasticSlices::cluster).filter(name -> !name.isEmpty());
  }

  /**
   * Whether a replacement of a slice runs in a worker already, so that the slice only ends.
   *
   * @param check the MultiKueue check of the job's queue
   */
  boolean isSuperseded(CachedWorkload workload, String check) {
    return workload.elastic()
        && !workload.finished()
        && replacements(workload)
            .anyMatch(other -> !cluster(other).isEmpty() && isReady(other, check));
  }

  /**
   * Whether a slice that was replaced has unfinished copies only in the worker that runs its
   * replacement. The worker ends such a copy itself, once its job has the replacement; until then
   * the job there may still be this slice's, and must not be withdrawn with it.
   */
  boolean isHandedOver(RemoteWorkloadContext context) {
    return context
        .workload()
        .filter(slice -> slice.elastic() && slice.finished())
        .filter(
            slice ->
                replacements(slice)
                    .map(ElasticSlices::cluster)
                    .anyMatch(cluster -> context.copies().keySet().equals(Set.of(cluster))))
        .filter(
            slice ->
                context.copies().values().stream().noneMatch(RemoteWorkloadFactory::isFinished))
        .isPresent();
  }

  /** The live slices of the same job that replace a slice. */
  private Stream<CachedWorkload> replacements(CachedWorkload workload) {
    return workload.owner().stream()
        .flatMap(owner -> workloads.ownedBy(owner.uid()).stream())
        .filter(other -> !other.finished() && !other.deleting())
        .filter(other -> other.replacedSlice().equals(workload.id().name()));
  }

  private static boolean isReady(CachedWorkload workload, String check) {
    return workload.status().admissionChecks().stream()
        .anyMatch(state -> state.name().equals(check) && state.is(CheckState.READY));
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
