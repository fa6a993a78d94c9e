package dev.sluice.dashboard;

import dev.sluice.api.queueing.QuotaSchedule.Interval;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.workload.record.WorkloadLister;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * What the dashboard shows. All of it is in memory: no page causes a request to the API server for
 * an object.
 *
 * @param views the published state of the engine
 * @param caches the objects of queues, flavors and topologies
 * @param workloads the Workloads
 * @param engine answers for positions and reasons
 * @param expected what is to come
 * @param workerClusters the worker clusters, if there is MultiKueue
 * @param deciding whether this process is the one that decides
 * @param clock the time
 */
public record DashboardSources(
    SchedulerViews views,
    InformerCaches caches,
    WorkloadLister workloads,
    SchedulerQueries engine,
    Expected expected,
    Supplier<Collection<WorkerCluster>> workerClusters,
    BooleanSupplier deciding,
    InstantSource clock) {

  /** What is to come. */
  public interface Expected {

    /**
     * When the pending Workloads of a ClusterQueue's tree are expected to start.
     *
     * @param patience how long to wait for that; nothing is computed if it is zero
     */
    Map<WorkloadId, StartEstimate> starts(String clusterQueue, Duration patience);

    /** The times at which another factor of quota than 1 holds, by ClusterQueue. */
    SortedMap<String, List<Interval>> factors();
  }

  /**
   * A worker cluster of MultiKueue.
   *
   * @param connected whether it is connected now
   * @param reason the reason of its condition {@code Active}; empty if it has none
   * @param message the message of the same
   */
  public record WorkerCluster(String name, boolean connected, String reason, String message) {}
}
