package dev.sluice.jobs;

import dev.sluice.workloads.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The Workloads of a job, sorted by what they are good for.
 *
 * @param match the one that says what the job says
 * @param strays others that live
 * @param leaving those that are being deleted
 */
record OwnWorkloads(Optional<Workload> match, List<Workload> strays, List<Workload> leaving) {

  static OwnWorkloads of(Situation situation, JobRules rules) {
    JobView job = situation.job();
    List<Workload> strays = new ArrayList<>();
    List<Workload> leaving = new ArrayList<>();
    Optional<Workload> match = Optional.empty();
    for (Workload workload : situation.owned()) {
      if (workload.deleting()) {
        leaving.add(workload);
      } else if (match.isEmpty() && serves(job, workload, rules)) {
        match = Optional.of(workload);
      } else {
        strays.add(workload);
      }
    }
    return new OwnWorkloads(match, strays, leaving);
  }

  /** What has ended on both sides is not taken apart any more, whatever it says. */
  private static boolean serves(JobView job, Workload workload, JobRules rules) {
    return (job.state().end().isPresent() && workload.finished())
        || WorkloadMatch.matches(job, workload, rules);
  }

  /** The Workload that knows how the job's templates looked before it was started. */
  Optional<Workload> original() {
    List<Workload> candidates = new ArrayList<>();
    match.ifPresent(candidates::add);
    candidates.addAll(strays);
    candidates.addAll(leaving);
    Optional<Workload> reserving = candidates.stream().filter(Workload::quotaReserved).findFirst();
    return reserving.or(() -> candidates.stream().findFirst());
  }
}
