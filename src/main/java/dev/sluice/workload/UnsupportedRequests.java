package dev.sluice.workload;

import dev.sluice.api.KueueConstants;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.workload.CachedWorkload.PodSet;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * What a Workload requires and this operator does not have. Such a Workload is kept waiting rather
 * than started without what it requires (docs/scheduling-semantics.md#what-is-pending).
 *
 * @param topology whether a required topology is refused
 * @param fixed the Workloads whose jobs are not resized while they run, and must not ask for it
 * @param elsewhere the Workloads that only other clusters run, which may have what is required
 */
public record UnsupportedRequests(
    boolean topology, Predicate<CachedWorkload> fixed, Predicate<CachedWorkload> elsewhere) {

  /** Refuses nothing. */
  public static final UnsupportedRequests NONE =
      new UnsupportedRequests(false, workload -> false, workload -> true);

  /** Why the Workload can't be admitted here, if it can't. */
  Optional<String> of(CachedWorkload workload) {
    Optional<String> found = topology(workload).or(() -> elastic(workload));
    return found.filter(reason -> !elsewhere.test(workload));
  }

  private Optional<String> topology(CachedWorkload workload) {
    return workload.spec().podSets().stream()
        .filter(podSet -> topology && mustBePlaced(podSet.topology()))
        .map(PodSet::name)
        .findFirst()
        .map(
            name ->
                "pod set %s: it requires a topology, and pods are not placed by topology"
                    .formatted(name));
  }

  private static boolean mustBePlaced(TopologyRequest request) {
    return request.mode() == TopologyRequest.Mode.REQUIRED || !request.slices().isEmpty();
  }

  private Optional<String> elastic(CachedWorkload workload) {
    return workload.elastic() && fixed.test(workload)
        ? Optional.of(
            "annotation %s: jobs are not resized while they run"
                .formatted(KueueConstants.ELASTIC_JOB))
        : Optional.empty();
  }
}
