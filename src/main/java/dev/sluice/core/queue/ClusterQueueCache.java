package dev.sluice.core.queue;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.quota.FlavorResourceIndex;
import dev.sluice.core.quota.QuotaNode;
import java.util.ArrayList;
import java.util.List;

/**
 * A ClusterQueue in the engine: its spec, its place in the quota tree, who waits in it and who
 * holds its quota. Confined to the engine's thread.
 */
public final class ClusterQueueCache {

  private final ClusterQueueSpec spec;
  private final QuotaNode node;
  private final PendingQueue pending;
  private final QuotaHolders quotaHolders;
  private final List<Group> groups;
  private long quotaGeneration = 1;
  private boolean active;

  /**
   * A resource group with its pairs numbered.
   *
   * @param resources its resources
   * @param flavors its flavors, in the order in which they are tried
   * @param pairs by flavor and resource, the number of the pair
   */
  public record Group(List<String> resources, List<String> flavors, int[][] pairs) {}

  /** A queue as it stands in the tree now; made anew when its spec changes. */
  public ClusterQueueCache(
      ClusterQueueSpec spec,
      QuotaNode node,
      PendingQueue pending,
      QuotaHolders quotaHolders,
      FlavorResourceIndex pairs) {
    this.spec = spec;
    this.node = node;
    this.pending = pending;
    this.quotaHolders = quotaHolders;
    this.groups = numbered(spec, pairs);
  }

  private static List<Group> numbered(ClusterQueueSpec spec, FlavorResourceIndex pairs) {
    List<Group> result = new ArrayList<>();
    for (ResourceGroup group : spec.groups()) {
      List<String> flavors =
          group.flavors().stream().map(ResourceGroup.FlavorQuotas::flavor).toList();
      int[][] numbers = new int[flavors.size()][group.resources().size()];
      for (int flavor = 0; flavor < flavors.size(); flavor++) {
        for (int resource = 0; resource < group.resources().size(); resource++) {
          numbers[flavor][resource] =
              pairs.number(flavors.get(flavor), group.resources().get(resource));
        }
      }
      result.add(new Group(group.resources(), flavors, numbers));
    }
    return List.copyOf(result);
  }

  /** Its spec. */
  public ClusterQueueSpec spec() {
    return spec;
  }

  /** Its name. */
  public String name() {
    return spec.name();
  }

  /** Its place in the quota tree. */
  public QuotaNode node() {
    return node;
  }

  /** Who waits in it. */
  public PendingQueue pending() {
    return pending;
  }

  /** Who holds its quota. */
  public QuotaHolders holders() {
    return quotaHolders;
  }

  /** Whether its policies let it preempt anybody. */
  public boolean mayPreempt() {
    return spec.preemption().withinClusterQueue() != WithinClusterQueue.NEVER
        || spec.preemption().reclaimWithinCohort() != ReclaimWithinCohort.NEVER;
  }

  /** Whether the head blocks those behind it. */
  public boolean isStrict() {
    return spec.strategy() == ClusterQueueSpec.QueueingStrategy.STRICT_FIFO;
  }

  /** Counts how often quota of this queue was given back or changed. */
  public long quotaGeneration() {
    return quotaGeneration;
  }

  /** Quota of this queue was given back or changed. */
  public void advanceQuotaGeneration() {
    quotaGeneration++;
  }

  /** Whether it may admit, as it was found when the trees were built last. */
  public boolean active() {
    return active;
  }

  /** Sets whether it may admit. */
  public void active(boolean may) {
    active = may;
  }

  /** Its resource groups. */
  public List<Group> groups() {
    return groups;
  }

  /** The index of the group that covers a resource; -1 if none does. */
  public int groupOf(String resource) {
    for (int i = 0; i < groups.size(); i++) {
      if (groups.get(i).resources().contains(resource)) {
        return i;
      }
    }
    return -1;
  }
}
