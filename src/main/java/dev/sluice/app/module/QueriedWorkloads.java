package dev.sluice.app.module;

import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.metrics.PendingGauges;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The pending Workloads that the engine is asked about. */
record QueriedWorkloads(SchedulerQueries queries, WorkloadLister workloads)
    implements PendingGauges.PendingWorkloads {

  @Override
  public CompletableFuture<Optional<List<PendingPosition>>> in(String clusterQueue) {
    return queries.pendingInClusterQueue(clusterQueue, 0, Integer.MAX_VALUE);
  }

  @Override
  public Optional<CachedWorkload> find(WorkloadId id) {
    return workloads.get(id.namespace(), id.name());
  }
}
