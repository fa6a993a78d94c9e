package dev.sluice.jobs;

import dev.sluice.api.placement.LocalWorker;
import dev.sluice.workloads.Workload;

/** Knows which jobs run in another cluster, so that they are not started here. */
@FunctionalInterface
public interface Elsewhere {

  /** Whether a job runs in another cluster once its Workload is admitted. Called by any thread. */
  boolean runs(JobView job, Workload workload);

  /**
   * For kinds that say themselves who runs them: what could run here is told by the cluster that
   * was chosen; what can't run here at all is marked for another controller, and released here like
   * any.
   */
  static Elsewhere whereMarked() {
    return (job, workload) ->
        "true".equals(job.annotations().get(LocalWorker.MAY_RUN_HERE))
            && !workload.status().elsewhere().cluster().isEmpty();
  }
}
