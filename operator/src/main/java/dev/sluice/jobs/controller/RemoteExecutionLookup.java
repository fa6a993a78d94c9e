package dev.sluice.jobs.controller;

import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.RemoteExecutionCheck;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.cache.LocalClusters;
import dev.sluice.workload.record.CachedWorkload;

/**
 * Which jobs of a kind run in other clusters that can't say so themselves: those whose Workload has
 * a cluster, or a check that sends it to one.
 */
public final class RemoteExecutionLookup implements RemoteExecutionCheck {

  private final InformerCaches informerCaches;

  /** By the checks of {@code world}. */
  public RemoteExecutionLookup(InformerCaches informerCaches) {
    this.informerCaches = informerCaches;
  }

  @Override
  public boolean runs(CachedJob job, CachedWorkload workload) {
    return !workload.status().remotePlacement().cluster().isEmpty()
        || (!LocalClusters.isMarked(workload) && isSent(workload));
  }

  private boolean isSent(CachedWorkload workload) {
    return workload.status().admissionChecks().stream()
        .anyMatch(check -> informerCaches.dispatchesRemotely(check.name()));
  }
}
