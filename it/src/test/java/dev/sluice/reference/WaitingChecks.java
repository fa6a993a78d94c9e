package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.WorkloadId;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What must hold of those who wait, whatever the algorithm: nobody passes the head of a StrictFIFO
 * queue, or an elder equal; and when nothing is left to do, nobody waits who fits.
 */
final class WaitingChecks {

  private final ReferenceQuestions world;

  WaitingChecks(ReferenceQuestions world) {
    this.world = world;
  }

  /** Looks at the decisions of a cycle, before the world knows of them. */
  void check(List<Decided> decided) {
    Set<WorkloadId> admitted = new HashSet<>();
    for (Decided each : decided) {
      List<WorkloadId> passed =
          world.passedBy(each.id(), each.clusterQueue()).stream()
              .filter(other -> !admitted.contains(other))
              .toList();
      if (!passed.isEmpty()) {
        throw new AssertionError("passed others: " + each + " " + passed);
      }
      if (each instanceof Decided.Admission) {
        admitted.add(each.id());
      }
    }
  }

  /**
   * Looks at those who wait when nothing is left to do. In trees where somebody waits for victims
   * to stop, or where a blocked head keeps quota free, others may fit and have to wait; places are
   * kept free for all trees.
   */
  void checkQuiescence() {
    ReferenceSnapshot now = world.snapshot();
    for (Map.Entry<WorkloadId, String> each : world.singlesThatFit().entrySet()) {
      Collection<String> tree =
          world.hasTopologies() ? world.queues().keySet() : now.tree().tree(each.getValue());
      boolean kept =
          now.holders().stream()
                  .anyMatch(holder -> holder.evicted() && tree.contains(holder.queue()))
              || tree.stream().anyMatch(this::keepsQuotaFree)
              || hasSeveralTopologies(each.getValue());
      if (!kept) {
        throw new AssertionError("left although it fits: " + each);
      }
    }
  }

  /**
   * The flavor of a resource group doesn't depend on those of others. Who needs places from two
   * groups with one topology may get them when others have taken a flavor of the other topology,
   * which nothing tells.
   */
  private boolean hasSeveralTopologies(String name) {
    ClusterQueueSpec queue = world.queues().get(name);
    return world.hasTopologies() && queue != null && queue.groups().size() > 1;
  }

  private boolean keepsQuotaFree(String name) {
    ClusterQueueSpec queue = world.queues().get(name);
    return queue != null
        && queue.strategy() == QueueingStrategy.STRICT_FIFO
        && queue.preemption().reclaimWithinCohort() != ReclaimWithinCohort.ANY
        && world.counts(name).pending() > 0;
  }
}
