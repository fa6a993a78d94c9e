package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.InactiveReason;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.PendingQueue;
import dev.sluice.core.queue.QuotaHolders;
import dev.sluice.core.quota.UsageVector;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A ClusterQueue by name: what is declared of it, who waits in it, who holds its quota. It outlives
 * its declaration as long as somebody holds quota in its name.
 */
final class ClusterQueueState {

  final String name;
  final PendingQueue pending = new PendingQueue();
  final QuotaHolders quotaHolders = new QuotaHolders();
  final UsageVector admitted = new UsageVector();
  @Nullable ClusterQueueSpec spec;
  @Nullable ClusterQueueCache state;
  List<InactiveReason> problems = List.of();
  int admittedCount;

  ClusterQueueState(String name) {
    this.name = name;
  }

  /** Whether it may admit: declared, in the tree, and without problems. */
  boolean active() {
    return state != null && problems.isEmpty();
  }
}
