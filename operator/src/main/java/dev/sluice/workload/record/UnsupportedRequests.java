package dev.sluice.workload.record;

import dev.sluice.api.KueueConstants;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * What a Workload requires and this operator does not have. Such a Workload is kept waiting rather
 * than started without what it requires (docs/scheduling-semantics.md#what-is-pending).
 *
 * @param fixed the Workloads whose jobs are not resized while they run, and must not ask for it
 * @param elsewhere the Workloads that only other clusters run, which may have what is required
 */
public record UnsupportedRequests(
    Predicate<CachedWorkload> fixed, Predicate<CachedWorkload> elsewhere) {

  /** Refuses nothing. */
  public static final UnsupportedRequests NONE =
      new UnsupportedRequests(workload -> false, workload -> true);

  /** Why the Workload can't be admitted here, if it can't. */
  public Optional<String> of(CachedWorkload workload) {
    Optional<String> found = elastic(workload);
    return found.filter(reason -> !elsewhere.test(workload));
  }

  private Optional<String> elastic(CachedWorkload workload) {
    return workload.elastic() && fixed.test(workload)
        ? Optional.of(
            "annotation %s: jobs are not resized while they run"
                .formatted(KueueConstants.ELASTIC_JOB))
        : Optional.empty();
  }
}
