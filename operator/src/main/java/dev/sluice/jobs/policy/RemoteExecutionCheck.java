package dev.sluice.jobs.policy;

import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.workload.record.CachedWorkload;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** Knows which jobs run in another cluster, so that they are not started here. */
@FunctionalInterface
public interface RemoteExecutionCheck {

  /** Whether a job runs in another cluster once its Workload is admitted. Called by any thread. */
  boolean runs(CachedJob job, CachedWorkload workload);

  /**
   * Whether what a job tells of its status in another cluster is to be believed. Never for a job
   * that runs here: that one is known by its status alone.
   *
   * @param owned the Workloads that the job controls
   */
  default boolean isTelling(CachedJob job, List<CachedWorkload> owned) {
    return false;
  }

  /**
   * For kinds that say themselves who runs them: what could run here is told by the cluster that
   * was chosen; what can't run here at all is marked for another controller, and released here like
   * any.
   *
   * @param manager whether this cluster sends jobs to others, at the moment of asking
   * @param sent whether a Workload holds quota of another cluster that it is sent to
   */
  static RemoteExecutionCheck whereMarked(BooleanSupplier manager, Predicate<CachedWorkload> sent) {
    return new WhereMarked(manager, sent);
  }

  /** By the mark of a job and the cluster of its Workload. */
  record WhereMarked(BooleanSupplier manager, Predicate<CachedWorkload> sent)
      implements RemoteExecutionCheck {

    @Override
    public boolean runs(CachedJob job, CachedWorkload workload) {
      return isMarked(job) && isPlaced(workload);
    }

    /**
     * A job that is sent back has no cluster any more, but holds the quota until it has stopped
     * there. One whose Workload is gone may still have pods where it was sent.
     */
    @Override
    public boolean isTelling(CachedJob job, List<CachedWorkload> owned) {
      return manager.getAsBoolean()
          && isMarked(job)
          && job.state().suspended()
          && !job.state().active()
          && (owned.isEmpty() || owned.stream().anyMatch(it -> isPlaced(it) || sent.test(it)));
    }

    private static boolean isMarked(CachedJob job) {
      return "true".equals(job.annotations().get(LocalClusterAnnotations.MAY_RUN_HERE));
    }

    private static boolean isPlaced(CachedWorkload workload) {
      return !workload.status().remotePlacement().cluster().isEmpty();
    }
  }
}
