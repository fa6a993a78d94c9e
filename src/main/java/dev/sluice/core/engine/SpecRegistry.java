package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.InactiveReason;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.quota.CohortHierarchy;
import dev.sluice.core.quota.FlavorResourceIndex;
import dev.sluice.core.quota.QuotaNode;
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
import org.jspecify.annotations.Nullable;

/** What is declared: flavors, namespaces, queues and cohorts, and the quota trees built of them. */
final class SpecRegistry {

  final FlavorResourceIndex pairs = new FlavorResourceIndex();
  final CohortHierarchy forest = new CohortHierarchy(pairs);
  final Map<String, Flavor> flavors = new HashMap<>();
  final Map<String, Map<String, String>> namespaces = new HashMap<>();
  final SortedMap<String, CohortSpec> cohorts = new TreeMap<>();
  final Map<String, ClusterQueueState> clusterQueues = new LinkedHashMap<>();
  final Map<LocalQueueId, LocalQueueState> localQueues = new LinkedHashMap<>();
  private final Map<String, Set<LocalQueueState>> localQueuesByTarget = new HashMap<>();

  ClusterQueueState clusterQueue(String name) {
    return clusterQueues.computeIfAbsent(name, ClusterQueueState::new);
  }

  LocalQueueState localQueue(LocalQueueId id) {
    return localQueues.computeIfAbsent(id, LocalQueueState::new);
  }

  @Nullable ClusterQueueCache queueState(String clusterQueue) {
    ClusterQueueState queue = clusterQueues.get(clusterQueue);
    return queue == null ? null : queue.state;
  }

  void declare(ClusterQueueSpec spec) {
    ClusterQueueState queue = clusterQueue(spec.name());
    boolean isNew = queue.spec == null;
    queue.spec = spec;
    forest.declareQueue(spec.name(), spec.cohort(), spec.groups(), spec.fairWeight());
    QuotaNode node = node(spec.name());
    if (isNew) {
      queue.quotaHolders.forEach(quotaHolder -> quotaHolder.addTo(node));
    }
    queue.pending.strict(spec.strategy() == ClusterQueueSpec.QueueingStrategy.STRICT_FIFO);
    queue.state = new ClusterQueueCache(spec, node, queue.pending, queue.quotaHolders, pairs);
  }

  /** Whether that is news. */
  boolean declare(CohortSpec spec) {
    if (spec.equals(cohorts.put(spec.name(), spec))) {
      return false;
    }
    forest.declareCohort(spec.name(), spec.parent(), spec.groups(), spec.fairWeight());
    return true;
  }

  /** Whether that is news. */
  boolean removeCohort(String name) {
    if (cohorts.remove(name) == null) {
      return false;
    }
    forest.removeCohort(name);
    return true;
  }

  void removeClusterQueue(String name) {
    ClusterQueueState queue = clusterQueue(name);
    queue.spec = null;
    queue.state = null;
    queue.problems = List.of();
    forest.removeQueue(name);
  }

  private QuotaNode node(String clusterQueue) {
    QuotaNode node = forest.queue(clusterQueue);
    if (node == null) {
      throw new IllegalStateException("ClusterQueue " + clusterQueue + " is not declared");
    }
    return node;
  }

  /** The queue at a node of the quota tree; null if it isn't declared any more. */
  @Nullable ClusterQueueCache queueAt(QuotaNode node) {
    return queueState(node.name());
  }

  /** What is declared of a LocalQueue from now on; null when it is gone. */
  void declare(LocalQueueState queue, @Nullable LocalQueueSpec spec) {
    localQueuesByTarget.computeIfPresent(
        queue.clusterQueue(),
        (name, former) -> {
          former.remove(queue);
          return former.isEmpty() ? null : former;
        });
    queue.spec = spec;
    if (spec != null) {
      localQueuesByTarget
          .computeIfAbsent(spec.clusterQueue(), name -> new LinkedHashSet<>())
          .add(queue);
    }
  }

  /** LocalQueues that name this ClusterQueue. */
  Collection<LocalQueueState> localQueuesOf(String clusterQueue) {
    return List.copyOf(localQueuesByTarget.getOrDefault(clusterQueue, Set.of()));
  }

  /**
   * Why a ClusterQueue can't be active, in the order of
   * docs/workload-semantics.md#conditions-of-queues.
   */
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
    if (!spec.cohort().isEmpty() && forest.inCycle(spec.cohort())) {
      problems.add(
          new InactiveReason(
              "Unknown",
              "Can't admit new workloads: the parents of cohort "
                  + spec.cohort()
                  + " form a cycle"));
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
