package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.PendingQueue;
import dev.sluice.core.queue.QuotaHolders;
import dev.sluice.core.quota.UsageVector;
import java.util.List;
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

  /**
   * Whether the queue may admit: it is declared, is part of the quota tree, and has no problems.
   */
  boolean active() {
    return cache != null && problems.isEmpty();
  }
}
