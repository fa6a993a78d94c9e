package dev.sluice.jobs;

import dev.sluice.api.Keys;
import dev.sluice.jobs.JobAction.DeleteWorkload;
import dev.sluice.jobs.JobAction.Stop;
import dev.sluice.jobs.JobAction.StopReason;
import dev.sluice.workloads.Workload;
import java.util.ArrayList;
import java.util.List;

/**
 * What becomes of the Workloads of a job that names no queue any more. Whoever takes the queue off
 * a suspended job gets its quota back, and its place in line. A job that runs is left alone; what
 * it holds is given back when it ends.
 */
final class WithoutQueue {

  private final Situation situation;
  private final JobRules rules;
  private final List<Workload> leaving = new ArrayList<>();
  private final List<Workload> live = new ArrayList<>();

  private WithoutQueue(Situation situation, JobRules rules) {
    this.situation = situation;
    this.rules = rules;
    for (Workload workload : situation.owned()) {
      if (!isMadeFor(situation.job(), workload)) {
        continue;
      }
      if (workload.deleting()) {
        leaving.add(workload);
      } else if (!workload.finished()) {
        live.add(workload);
      }
    }
  }

  /** Workloads that another controller made for the job are not ours to take away. */
  private static boolean isMadeFor(JobView job, Workload workload) {
    return job.ref().uid().equals(workload.labels().get(Keys.JOB_UID));
  }

  /** What to do about the Workloads of an unmanaged job; nothing where no job is handled. */
  static List<JobAction> decide(Situation situation, JobRules rules) {
    boolean handled = rules.managedNamespaces().test(situation.job().ref().namespace());
    return handled ? new WithoutQueue(situation, rules).decide() : List.of();
  }

  private List<JobAction> decide() {
    JobState state = situation.job().state();
    if (live.isEmpty() && leaving.isEmpty()) {
      return List.of();
    }
    if (state.end().isPresent()) {
      List<JobAction> actions = new ArrayList<>(JobDecisions.letGoOf(leaving));
      live.forEach(
          workload ->
              actions.add(JobDecisions.finish(situation, workload, state.end().orElseThrow())));
      return actions;
    }
    if (!state.suspended()) {
      return takenAway(live.stream().filter(workload -> !workload.quotaReserved()).toList());
    }
    if (state.stopUnfinished()) {
      return List.of(
          new Stop(
              StopReason.WORKLOAD_DELETED,
              OwnWorkloads.of(situation, rules).original(),
              "Stopping is completed"));
    }
    return state.active() ? List.of() : takenAway(live);
  }

  private List<JobAction> takenAway(List<Workload> unwanted) {
    List<JobAction> actions = new ArrayList<>(JobDecisions.letGoOf(leaving));
    unwanted.forEach(
        workload -> actions.add(new DeleteWorkload(workload, "its job names no queue any more")));
    return actions;
  }
}
