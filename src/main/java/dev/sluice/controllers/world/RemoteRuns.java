package dev.sluice.controllers.world;

import dev.sluice.api.Keys;
import dev.sluice.jobs.Elsewhere;
import dev.sluice.jobs.JobView;
import dev.sluice.workloads.Workload;

/**
 * Which jobs of a kind run in other clusters that can't say so themselves: those whose Workload has
 * a cluster, or a check that sends it to one.
 */
public final class RemoteRuns implements Elsewhere {

  private final World world;

  /** By the checks of {@code world}. */
  public RemoteRuns(World world) {
    this.world = world;
  }

  @Override
  public boolean runs(JobView job, Workload workload) {
    return !workload.status().elsewhere().cluster().isEmpty()
        || (!LocalWorkers.isMarked(workload) && isSent(workload));
  }

  private boolean isSent(Workload workload) {
    return workload.status().admissionChecks().stream()
        .flatMap(check -> world.checks().find(check.name()).stream())
        .anyMatch(
            check ->
                check.getSpec() != null
                    && Keys.MULTIKUEUE.equals(check.getSpec().controllerName()));
  }
}
