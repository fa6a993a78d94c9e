package dev.sluice.core.engine;

import dev.sluice.core.backfill.PlannedStarts;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.RunEnds;
import dev.sluice.core.quota.CohortHierarchy;
import dev.sluice.core.quota.FlavorResourceIndex;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.topology.TopologyCache;
import dev.sluice.core.topology.TopologyOptions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The specs of flavors, namespaces, queues and cohorts, and the quota trees that are built from
 * them.
 */
final class SpecRegistry {

  final FlavorResourceIndex pairs = new FlavorResourceIndex();
  final CohortHierarchy hierarchy = new CohortHierarchy(pairs);
  final Map<String, Flavor> flavors = new HashMap<>();
  final TopologyCache topologies;

  /** Roots of trees with a queue that assigns nodes by topology. */
  final Set<QuotaNode> topologyTrees = new LinkedHashSet<>();

  /** Roots of those trees among them from which Workloads of other trees may be preempted. */
  final Set<QuotaNode> reachingTrees = new LinkedHashSet<>();

  final Map<String, Map<String, String>> namespaces = new HashMap<>();
  final SortedMap<String, CohortSpec> cohorts = new TreeMap<>();
  final Map<String, ClusterQueueState> clusterQueues = new LinkedHashMap<>();
  final Map<LocalQueueId, LocalQueueState> localQueues = new LinkedHashMap<>();

  /** Number of LocalQueues that limit the number of their Workloads with quota. */
  int limitedLocalQueues;

  /** Roots of the trees of queues in which Workloads may start before a head. */
  final Map<QuotaNode, List<ClusterQueueCache>> backfillTrees = new LinkedHashMap<>();

  /** LocalQueues whose limit is another one, or whose Workloads may no longer wait for it. */
  final Set<LocalQueueState> freed = new LinkedHashSet<>();

  private final Map<String, Set<LocalQueueState>> localQueuesByClusterQueue = new HashMap<>();

  SpecRegistry(TopologyOptions topologyOptions) {
    topologies = new TopologyCache(topologyOptions);
  }

  /**
   * What is declared beside queues, as a value.
   *
   * @param rebuildDue whether the quota trees have to be rebuilt
   */
  EngineState.SpecsExport export(boolean rebuildDue) {
    List<LocalQueueId> declared = new ArrayList<>();
    new TreeMap<>(localQueuesByClusterQueue)
        .values()
        .forEach(queues -> queues.forEach(queue -> declared.add(queue.id)));
    return new EngineState.SpecsExport(
        pairs.export(),
        List.copyOf(new TreeMap<>(flavors).values()),
        topologies.export(),
        namespaces,
        List.copyOf(cohorts.values()),
        declared,
        freed.stream().map(queue -> queue.id).toList(),
        rebuildDue);
  }

  /** Takes over what is declared beside queues, and the names of queues, into an empty registry. */
  void restore(EngineState state) {
    EngineState.SpecsExport specs = state.specs();
    pairs.restore(specs.pairs());
    specs.flavors().forEach(flavor -> flavors.put(flavor.name(), flavor));
    topologies.restore(specs.topologies(), specs.flavors());
    namespaces.putAll(specs.namespaces());
    state.clusterQueues().forEach(queue -> clusterQueue(queue.name()));
    state.localQueues().forEach(queue -> localQueue(queue.id()));
    specs.freed().forEach(id -> freed.add(localQueue(id)));
  }

  /**
   * Takes over the specs of queues and Cohorts, and builds the quota trees unless they have to be
   * rebuilt anyway; to be called when the holders of quota are known.
   */
  void restoreTrees(EngineState state) {
    state.specs().cohorts().forEach(this::declare);
    for (EngineState.ClusterQueueExport exported : state.clusterQueues()) {
      exported.spec().ifPresent(this::declare);
    }
    if (!state.specs().rebuildDue()) {
      hierarchy.rebuildIfDirty();
    }
    for (EngineState.ClusterQueueExport exported : state.clusterQueues()) {
      ClusterQueueState queue = clusterQueue(exported.name());
      queue.restore(exported);
      ClusterQueueCache cache = queue.cache;
      if (cache != null) {
        places(cache);
        planned(cache);
      }
    }
    Map<LocalQueueId, LocalQueueSpec> specs = new HashMap<>();
    state
        .localQueues()
        .forEach(queue -> queue.spec().ifPresent(spec -> specs.put(queue.id(), spec)));
    state.specs().declaredLocalQueues().forEach(id -> declare(localQueue(id), specs.get(id)));
  }

  /** Adds a queue to those that are planned, if it has back-fill. */
  void planned(ClusterQueueCache queue) {
    if (BackfillPass.rulesOf(queue) != null) {
      backfillTrees.computeIfAbsent(queue.node().root(), root -> new ArrayList<>()).add(queue);
    }
  }

  ClusterQueueState clusterQueue(String name) {
    return clusterQueues.computeIfAbsent(name, ClusterQueueState::new);
  }

  LocalQueueState localQueue(LocalQueueId id) {
    return localQueues.computeIfAbsent(id, LocalQueueState::new);
  }

  /**
   * Forgets a LocalQueue that doesn't exist, unless a Workload names it or an event has reported
   * its usage already.
   */
  void forgetIfUnused(LocalQueueState queue) {
    if (!queue.exists() && queue.workloads == 0 && queue.reportedUsage == null) {
      localQueues.remove(queue.id, queue);
      freed.remove(queue);
    }
  }

  @Nullable ClusterQueueCache cacheOf(String clusterQueue) {
    ClusterQueueState queue = clusterQueues.get(clusterQueue);
    return queue == null ? null : queue.cache;
  }

  void declare(ClusterQueueSpec spec) {
    ClusterQueueState queue = clusterQueue(spec.name());
    boolean isNew = queue.spec == null;
    queue.spec = spec;
    hierarchy.declareQueue(
        spec.name(), spec.cohort(), spec.groups(), spec.fairWeight(), spec.rules().quota());
    QuotaNode node = node(spec.name());
    if (isNew) {
      queue.quotaHolders.forEach(quotaHolder -> quotaHolder.addTo(node));
      node.countWorkloads(queue.quotaHolders.size());
    }
    queue.quotaHolders.countGuaranteed(spec.rules().countsPreemptible());
    node.clearGuaranteed();
    queue.quotaHolders.forEach(
        quotaHolder -> {
          if (queue.quotaHolders.isGuaranteed(quotaHolder)) {
            quotaHolder.addGuaranteedTo(node);
          }
        });
    queue.cache = new ClusterQueueCache(spec, node, queue.pending, queue.quotaHolders, pairs);
    node.owner(queue.cache);
    queue.cache.awaitsPods(queue.awaitingPods > 0);
    queue.pending.policy(queue.cache.queueing());
  }

  /** Returns whether the declaration changed. */
  boolean declare(CohortSpec spec) {
    if (spec.equals(cohorts.put(spec.name(), spec))) {
      return false;
    }
    hierarchy.declareCohort(
        spec.name(), spec.parent(), spec.groups(), spec.fairWeight(), spec.rules());
    return true;
  }

  /** Returns whether the declaration changed. */
  boolean removeCohort(String name) {
    if (cohorts.remove(name) == null) {
      return false;
    }
    hierarchy.removeCohort(name);
    return true;
  }

  void removeClusterQueue(String name) {
    ClusterQueueState queue = clusterQueue(name);
    node(name).owner(null);
    queue.spec = null;
    queue.cache = null;
    queue.problems = List.of();
    hierarchy.removeQueue(name);
  }

  private QuotaNode node(String clusterQueue) {
    QuotaNode node = hierarchy.queue(clusterQueue);
    if (node == null) {
      throw new IllegalStateException("ClusterQueue " + clusterQueue + " is not declared");
    }
    return node;
  }

  /** The queue at a node of the quota tree; null if the queue was deleted. */
  @Nullable ClusterQueueCache queueAt(QuotaNode node) {
    return node.owner() instanceof ClusterQueueCache cache ? cache : null;
  }

  /** The queues that exist, of all trees. */
  Stream<ClusterQueueCache> existingQueues() {
    return clusterQueues.values().stream().flatMap(queue -> Stream.ofNullable(queue.cache));
  }

  /** Records of a queue whether its Workloads are assigned to nodes that other trees have, too. */
  void places(ClusterQueueCache queue) {
    if (queue.topologyAware()) {
      topologyTrees.add(queue.node().root());
      if (queue.spec().rules().preemptionConfig().filter(PreemptionConfig::reaches).isPresent()) {
        reachingTrees.add(queue.node().root());
      }
    }
  }

  /** The queues at and below a node of the quota tree. */
  List<ClusterQueueCache> queuesBelow(QuotaNode node) {
    ClusterQueueCache own = queueAt(node);
    if (own != null) {
      return List.of(own);
    }
    List<ClusterQueueCache> queues = new ArrayList<>();
    node.children().forEach(child -> queues.addAll(queuesBelow(child)));
    return queues;
  }

  /** When the runs in the tree of a queue end, by bounds that count under a rule. */
  RunEnds ends(PlannedStarts plannedStarts, UnknownRunTime unknown, ClusterQueueCache queue) {
    RunEnds ends = plannedStarts.ends(unknown);
    QuotaNode root = queue.node().root();
    if (!ends.knows(root)) {
      ends.read(root, queuesBelow(root));
    }
    return ends;
  }

  /** Sets the spec of a LocalQueue; null when the LocalQueue was deleted. */
  void declare(LocalQueueState queue, @Nullable LocalQueueSpec spec) {
    localQueuesByClusterQueue.computeIfPresent(
        queue.clusterQueue(),
        (name, former) -> {
          former.remove(queue);
          return former.isEmpty() ? null : former;
        });
    boolean limited = queue.limitsWorkloads();
    queue.spec = spec;
    limitedLocalQueues += (queue.limitsWorkloads() ? 1 : 0) - (limited ? 1 : 0);
    if (spec != null) {
      localQueuesByClusterQueue
          .computeIfAbsent(spec.clusterQueue(), name -> new LinkedHashSet<>())
          .add(queue);
    }
  }

  /** LocalQueues that name this ClusterQueue. */
  Collection<LocalQueueState> localQueuesOf(String clusterQueue) {
    return List.copyOf(localQueuesByClusterQueue.getOrDefault(clusterQueue, Set.of()));
  }

  /** Why a ClusterQueue is inactive, in the API's order of precedence. */
  List<InactiveReason> problemsOf(ClusterQueueSpec spec) {
    List<InactiveReason> problems = new ArrayList<>();
    if (spec.terminating()) {
      problems.add(
          new InactiveReason("Terminating", "Can't admit new workloads: it is being deleted"));
    }
    if (spec.stopPolicy() != StopPolicy.NONE) {
      problems.add(new InactiveReason("Stopped", "Can't admit new workloads: it is stopped"));
    }
    List<String> missing = missingFlavors(spec);
    if (!missing.isEmpty()) {
      problems.add(
          new InactiveReason(
              "FlavorNotFound",
              "Can't admit new workloads: references missing ResourceFlavor(s): "
                  + String.join(", ", missing)));
    }
    problems.addAll(spec.problems());
    if (!spec.cohort().isEmpty() && hierarchy.inCycle(spec.cohort())) {
      problems.add(
          new InactiveReason(
              "CohortCycleDetected",
              "Can't admit new workloads: the parents of cohort "
                  + spec.cohort()
                  + " form a cycle: "
                  + String.join(" → ", hierarchy.cycleAbove(spec.cohort()))));
    }
    return problems;
  }

  private List<String> missingFlavors(ClusterQueueSpec spec) {
    List<String> missing = new ArrayList<>();
    for (ResourceGroup group : spec.groups()) {
      for (ResourceGroup.FlavorQuotas quotas : group.flavors()) {
        if (!flavors.containsKey(quotas.flavor())) {
          missing.add(quotas.flavor());
        }
      }
    }
    return missing;
  }
}
