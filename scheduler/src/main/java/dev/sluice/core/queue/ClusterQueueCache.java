package dev.sluice.core.queue;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.quota.FlavorResourceIndex;
import dev.sluice.core.quota.QuotaNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A ClusterQueue in the engine: its spec, its node in the quota tree, its pending Workloads and the
 * holders of its quota. Confined to the scheduler thread.
 */
public final class ClusterQueueCache {

  private final ClusterQueueSpec spec;
  private final QuotaNode node;
  private final PendingQueue pending;
  private final QuotaHolders quotaHolders;
  private final List<Group> groups;
  private final int[] pairs;
  private final QueueingPolicy queueing;
  private final int priority;
  private long quotaGeneration = 1;
  private boolean active;
  private boolean topologyAware;
  private boolean impliesTopology;
  private boolean waitsForPods;

  /**
   * A resource group with numbered pairs.
   *
   * @param resources names of the resources
   * @param flavors names of the flavors, in the order in which they are tried
   * @param pairs the number of the pair, by index of flavor and resource
   */
  public record Group(List<String> resources, List<String> flavors, int[][] pairs) {}

  /** Creates the cache for one version of the spec; a changed spec needs a new cache. */
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
    quotaHolders.node(node);
    this.groups = numbered(spec, pairs);
    this.pairs =
        groups.stream()
            .flatMap(group -> Arrays.stream(group.pairs()))
            .flatMapToInt(Arrays::stream)
            .distinct()
            .sorted()
            .toArray();
    this.queueing = QueueingPolicies.of(spec.strategy());
    this.priority = spec.rules().priority();
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

  /** The spec. */
  public ClusterQueueSpec spec() {
    return spec;
  }

  /** Name of the ClusterQueue. */
  public String name() {
    return spec.name();
  }

  /** The node in the quota tree. */
  public QuotaNode node() {
    return node;
  }

  /** The pending Workloads. */
  public PendingQueue pending() {
    return pending;
  }

  /** The Workloads that have quota of this queue reserved. */
  public QuotaHolders holders() {
    return quotaHolders;
  }

  /** Whether the preemption policies, or a PreemptionConfig, allow any preemption. */
  public boolean mayPreempt() {
    return spec.rules().preemptionConfig().isPresent()
        || spec.preemption().withinClusterQueue() != WithinClusterQueue.NEVER
        || spec.preemption().reclaimWithinCohort() != ReclaimWithinCohort.NEVER;
  }

  /** The policy of the queueing strategy. */
  public QueueingPolicy queueing() {
    return queueing;
  }

  /** The first key among the heads of a cycle: higher first. */
  public int priority() {
    return priority;
  }

  /** A counter that increases when quota of this queue is released or changed. */
  public long quotaGeneration() {
    return quotaGeneration;
  }

  /**
   * Takes over what the queue was when its state became a value.
   *
   * @param generation the quota generation
   * @param may whether the queue may admit
   * @param aware whether the nodes of any flavor are assigned by topology
   * @param implies whether the nodes of all flavors are
   */
  public void restore(long generation, boolean may, boolean aware, boolean implies) {
    quotaGeneration = generation;
    active = may;
    topologyAware = aware;
    impliesTopology = implies;
  }

  /** Increases the quota generation, because quota of this queue was released or changed. */
  public void advanceQuotaGeneration() {
    quotaGeneration++;
  }

  /** Whether the queue may admit, as of the last rebuild of the quota trees. */
  public boolean active() {
    return active;
  }

  /** Sets whether the queue may admit. */
  public void active(boolean may) {
    active = may;
  }

  /**
   * Sets which flavors have nodes that are assigned by topology.
   *
   * @param isTopologyFlavor by name of the flavor
   */
  public void topology(Predicate<String> isTopologyFlavor) {
    List<String> flavors = groups.stream().flatMap(group -> group.flavors().stream()).toList();
    topologyAware = flavors.stream().anyMatch(isTopologyFlavor);
    impliesTopology = topologyAware && flavors.stream().allMatch(isTopologyFlavor);
  }

  /** Whether the nodes of any flavor are assigned by topology. */
  public boolean topologyAware() {
    return topologyAware;
  }

  /** Whether the nodes of all flavors are, so that pod sets needn't ask for it. */
  public boolean impliesTopology() {
    return impliesTopology;
  }

  /** Whether the queue admits nothing until the pods of its admitted Workloads are ready. */
  public boolean waitsForPods() {
    return waitsForPods;
  }

  /** Sets whether pods of admitted Workloads are not ready; matters where the rules say so. */
  public void awaitsPods(boolean anyUnready) {
    waitsForPods = anyUnready && spec.rules().blocksUntilReady();
  }

  /** The resource groups. */
  public List<Group> groups() {
    return groups;
  }

  /** Whether any group has a pair. */
  public boolean hasPair(int pair) {
    return Arrays.binarySearch(pairs, pair) >= 0;
  }

  /** The pairs of all groups, each once, in the order of their numbers; not to be changed. */
  public int[] pairs() {
    return pairs;
  }

  /** The number of the pair of a resource in a flavor; -1 if the queue doesn't have it. */
  public int pair(String resource, @Nullable String flavor) {
    int group = groupOf(resource);
    int row = group < 0 ? -1 : groups.get(group).flavors().indexOf(flavor);
    return row < 0
        ? -1
        : groups.get(group).pairs()[row][groups.get(group).resources().indexOf(resource)];
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
