package dev.sluice.lab.bench.month;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import java.math.BigDecimal;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;

/** Declares queues, and declares them anew while jobs run, as people do. */
final class DeclarationChanges {

  private static final List<PreemptionPolicies> POLICIES =
      List.of(
          PreemptionPolicies.NEVER,
          new PreemptionPolicies(
              WithinClusterQueue.NEVER, ReclaimWithinCohort.ANY, false, OptionalInt.empty()),
          new PreemptionPolicies(
              WithinClusterQueue.LOWER_PRIORITY,
              ReclaimWithinCohort.ANY,
              false,
              OptionalInt.empty()),
          new PreemptionPolicies(
              WithinClusterQueue.LOWER_OR_NEWER_EQUAL_PRIORITY,
              ReclaimWithinCohort.LOWER_PRIORITY,
              false,
              OptionalInt.empty()));

  private final List<DeclaredQueue> queues;
  private final int teamsPerTree;
  private final Random random;

  DeclarationChanges(List<DeclaredQueue> queues, MonthSize size) {
    this.queues = queues;
    this.teamsPerTree = size.teams();
    this.random = new Random(size.seed() + 1);
    for (int i = 0; i < queues.size(); i++) {
      DeclaredQueue queue = queues.get(i);
      queue.preemption = POLICIES.get(i % 2 + 1);
      queue.strategy =
          i % 10 == 3 ? QueueingStrategy.STRICT_FIFO : QueueingStrategy.BEST_EFFORT_FIFO;
    }
  }

  /** Changes one queue, and returns it; a queue that is held is to be resumed later. */
  DeclaredQueue change() {
    DeclaredQueue queue = queues.get(random.nextInt(queues.size()));
    switch (random.nextInt(6)) {
      case 0, 1 -> queue.scale = 0.7 + 0.6 * random.nextDouble();
      case 2 -> queue.preemption = POLICIES.get(random.nextInt(POLICIES.size()));
      case 3 -> queue.stop = StopPolicy.HOLD;
      case 4 -> queue.team = queue.tree * teamsPerTree + random.nextInt(teamsPerTree);
      default -> queue.weight = BigDecimal.valueOf(1 + random.nextInt(3));
    }
    return queue;
  }
}
