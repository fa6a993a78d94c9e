package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.queue.LocalQueueUsage;
import dev.sluice.core.quota.UsageVector;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A LocalQueue: what is declared of it, who is kept out of its ClusterQueue, and what it uses. */
final class LocalQueueState {

  final LocalQueueId id;
  @Nullable LocalQueueSpec spec;
  final Set<WorkloadEntry> keptOut = new LinkedHashSet<>();
  final UsageVector reserved = new UsageVector();
  final UsageVector admitted = new UsageVector();
  final LocalQueueUsage use = new LocalQueueUsage();
  int reserving;
  int admittedCount;

  /** What it used over time; null where that doesn't count. */
  @Nullable DecayingUsage history;

  /** What is told of its past; null if nothing. */
  SchedulerEvent.@Nullable LocalQueueUsed usedBefore;

  LocalQueueState(LocalQueueId id) {
    this.id = id;
  }

  /** The ClusterQueue behind it; empty if it doesn't exist or names none. */
  String clusterQueue() {
    LocalQueueSpec declared = spec;
    return declared == null ? "" : declared.clusterQueue();
  }

  boolean exists() {
    return spec != null;
  }

  boolean stopped() {
    LocalQueueSpec declared = spec;
    return declared != null && declared.stopPolicy() != StopPolicy.NONE;
  }
}
