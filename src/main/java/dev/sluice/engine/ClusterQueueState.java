package dev.sluice.engine;

import dev.sluice.model.ClusterQueueSpec;
import dev.sluice.model.InactiveReason;
import dev.sluice.queue.QuotaHolders;
import dev.sluice.queue.PendingQueue;
import dev.sluice.queue.ClusterQueueCache;
import dev.sluice.quota.UsageVector;
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
