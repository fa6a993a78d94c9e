package dev.sluice.jobs.policy;

import dev.sluice.workload.record.CachedWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The Workloads of a job, sorted by what they are good for.
 *
 * @param match the one that says what the job says
 * @param duplicates others that live
 * @param leaving those that are being deleted
 */
record OwnedWorkloads(
    Optional<CachedWorkload> match, List<CachedWorkload> duplicates, List<CachedWorkload> leaving) {

  /** Sorts them; of a job that names a prebuilt one that is its own, no other one matches. */
  static OwnedWorkloads of(ReconcileContext reconcileContext, JobOptions options) {
    CachedJob job = reconcileContext.job();
    Optional<CachedWorkload> named =
        reconcileContext.owned().stream().filter(job::names).findFirst();
    List<CachedWorkload> strays = new ArrayList<>();
    List<CachedWorkload> leaving = new ArrayList<>();
    Optional<CachedWorkload> match = Optional.empty();
    for (CachedWorkload workload : reconcileContext.owned()) {
      if (workload.deleting()) {
        leaving.add(workload);
      } else if (match.isEmpty()
          && named.filter(other -> other != workload).isEmpty()
          && serves(job, workload, options)) {
        match = Optional.of(workload);
      } else {
        strays.add(workload);
      }
    }
    return new OwnedWorkloads(match, strays, leaving);
  }

  /** What has ended on both sides is not taken apart any more, whatever it says. */
  private static boolean serves(CachedJob job, CachedWorkload workload, JobOptions options) {
    return (job.state().end().isPresent() && workload.finished())
        || WorkloadEquivalence.matches(job, workload, options);
  }

  /** The Workload that knows how the job's templates looked before it was started. */
  Optional<CachedWorkload> original() {
    List<CachedWorkload> candidates = new ArrayList<>();
    match.ifPresent(candidates::add);
    candidates.addAll(duplicates);
    candidates.addAll(leaving);
    Optional<CachedWorkload> reserving =
        candidates.stream().filter(CachedWorkload::quotaReserved).findFirst();
    return reserving.or(() -> candidates.stream().findFirst());
  }
}
