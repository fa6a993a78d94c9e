package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.queue.LocalQueueUsage;
import dev.sluice.core.quota.UsageVector;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * State of a LocalQueue: its spec, Workloads that are not in a ClusterQueue's queue, and its usage.
 */
final class LocalQueueState {

  final LocalQueueId id;
  @Nullable LocalQueueSpec spec;
  final Set<WorkloadEntry> unqueued = new LinkedHashSet<>();
  final UsageVector reserved = new UsageVector();
  final UsageVector admitted = new UsageVector();
  final LocalQueueUsage usage = new LocalQueueUsage();
  int reserving;

  /** Number of Workloads that the engine knows in this LocalQueue. */
  int workloads;

  int admittedCount;

  /** Usage over time; null without admission fair sharing. */
  @Nullable DecayingUsage history;

  /** Usage over time that was reported by an event; null if there was none. */
  SchedulerEvent.@Nullable LocalQueueUsed reportedUsage;

  LocalQueueState(LocalQueueId id) {
    this.id = id;
  }

  /** The LocalQueue as a value. */
  EngineState.LocalQueueExport export() {
    return new EngineState.LocalQueueExport(
        id,
        Optional.ofNullable(spec),
        unqueued.stream().map(entry -> entry.id.uid()).toList(),
        usage.amount(),
        Optional.ofNullable(history).map(DecayingUsage::export),
        Optional.ofNullable(reportedUsage));
  }

  /**
   * The ClusterQueue that the LocalQueue feeds; empty if the LocalQueue doesn't exist or names no
   * ClusterQueue.
   */
  String clusterQueue() {
    LocalQueueSpec declared = spec;
    return declared == null ? "" : declared.clusterQueue();
  }

  /** Whether the number of its Workloads with quota is limited. */
  boolean limitsWorkloads() {
    LocalQueueSpec declared = spec;
    return declared != null && declared.maxWorkloads().isPresent();
  }

  /** Whether as many of its Workloads have quota as may. */
  boolean atWorkloadLimit() {
    LocalQueueSpec declared = spec;
    return declared != null
        && declared.maxWorkloads().isPresent()
        && reserving >= declared.maxWorkloads().getAsInt();
  }

  boolean exists() {
    return spec != null;
  }

  boolean stopped() {
    LocalQueueSpec declared = spec;
    return declared != null && declared.stopPolicy() != StopPolicy.NONE;
  }
}
