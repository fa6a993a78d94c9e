package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.PendingQueue;
import dev.sluice.core.queue.QuotaHolders;
import dev.sluice.core.quota.UsageVector;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * State of the ClusterQueue of one name: its spec, its pending Workloads, and the holders of its
 * quota. The state outlives the ClusterQueue object as long as a Workload has quota of that name
 * reserved.
 */
final class ClusterQueueState {

  final String name;
  final PendingQueue pending = new PendingQueue();
  final QuotaHolders quotaHolders = new QuotaHolders();
  final UsageVector admitted = new UsageVector();
  @Nullable ClusterQueueSpec spec;
  @Nullable ClusterQueueCache cache;
  List<InactiveReason> problems = List.of();
  int admittedCount;

  /** Number of Workloads with quota of the queue whose pods were not reported ready. */
  int awaitingPods;

  ClusterQueueState(String name) {
    this.name = name;
  }

  /** The ClusterQueue as a value. */
  EngineState.ClusterQueueExport export() {
    ClusterQueueCache known = cache;
    return new EngineState.ClusterQueueExport(
        name,
        Optional.ofNullable(spec),
        problems,
        known == null ? 0 : known.quotaGeneration(),
        known != null && known.active(),
        known != null && known.topologyAware(),
        known != null && known.impliesTopology(),
        pending.export(known));
  }

  /** Takes over what the last rebuild of the quota trees found, after the spec was declared. */
  void restore(EngineState.ClusterQueueExport exported) {
    problems = exported.problems();
    ClusterQueueCache known = cache;
    if (known != null) {
      known.restore(
          exported.quotaGeneration(),
          exported.active(),
          exported.topologyAware(),
          exported.impliesTopology());
    }
  }

  /**
   * Whether the queue may admit: it is declared, is part of the quota tree, and has no problems.
   */
  boolean active() {
    return cache != null && problems.isEmpty();
  }
}
