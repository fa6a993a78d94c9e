package dev.sluice.core.queue;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.quota.CohortHierarchy;
import dev.sluice.core.quota.FlavorResourceIndex;
import java.util.List;
import java.util.Objects;

/** ClusterQueues in trees of their own: BestEffortFIFO, without preemption and without checks. */
public final class PlainQueues {

  private final FlavorResourceIndex pairs;
  private final CohortHierarchy trees;

  /** No queues so far; pairs get their numbers from this index. */
  public PlainQueues(FlavorResourceIndex pairs) {
    this.pairs = pairs;
    this.trees = new CohortHierarchy(pairs);
  }

  /** Declares a queue; {@code cohort} is empty for a queue of its own. */
  public ClusterQueueCache declare(
      String name,
      String cohort,
      List<ResourceGroup> groups,
      PendingQueue pending,
      QuotaHolders holders) {
    trees.declareQueue(name, cohort, groups);
    trees.rebuildIfDirty();
    ClusterQueueSpec spec =
        new ClusterQueueSpec(
            name,
            cohort,
            groups,
            ClusterQueueSpec.QueueingStrategy.BEST_EFFORT_FIFO,
            new LabelSelector.Requirements(List.of()),
            ClusterQueueSpec.StopPolicy.NONE,
            false,
            PreemptionPolicies.NEVER,
            FlavorFungibility.DEFAULT,
            List.of(),
            List.of());
    return new ClusterQueueCache(
        spec, Objects.requireNonNull(trees.queue(name)), pending, holders, pairs);
  }
}
