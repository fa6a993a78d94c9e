package dev.sluice.core.quota;

import dev.sluice.core.model.QueueRules.QuotaRules;
import dev.sluice.core.model.ResourceGroup;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * All quota trees: the declared queues and cohorts, and the nodes built from them. A declaration
 * only records the spec; {@link #rebuildIfDirty} builds the trees. The usage of queues is kept when
 * the trees change. Confined to one thread.
 */
public final class CohortHierarchy {

  private final FlavorResourceIndex pairs;
  private final SortedMap<String, Declared> queues = new TreeMap<>();
  private final SortedMap<String, Declared> cohorts = new TreeMap<>();
  private final Map<String, QuotaNode> queueNodes = new HashMap<>();
  private final Map<String, QuotaNode> cohortNodes = new HashMap<>();
  private Set<String> cyclic = Set.of();
  private boolean isRebuilt = true;

  private record Declared(
      String parent, List<ResourceGroup> groups, BigDecimal weight, QuotaRules rules) {}

  /** An empty hierarchy that numbers pairs with {@code pairs}. */
  public CohortHierarchy(FlavorResourceIndex pairs) {
    this.pairs = pairs;
  }

  /** Declares or replaces a ClusterQueue of weight 1; an empty name means no cohort. */
  public void declareQueue(String name, String cohort, List<ResourceGroup> groups) {
    declareQueue(name, cohort, groups, BigDecimal.ONE, QuotaRules.DEFAULT);
  }

  /** Declares or replaces a ClusterQueue without rules beyond the fields of its API. */
  public void declareQueue(
      String name, String cohort, List<ResourceGroup> groups, BigDecimal weight) {
    declareQueue(name, cohort, groups, weight, QuotaRules.DEFAULT);
  }

  /** Declares or replaces a ClusterQueue; an empty name means no cohort. */
  public void declareQueue(
      String name, String cohort, List<ResourceGroup> groups, BigDecimal weight, QuotaRules rules) {
    queues.put(name, new Declared(cohort, groups, weight, rules));
    queueNodes.computeIfAbsent(name, unknown -> new QuotaNode(unknown, true));
    isRebuilt = false;
  }

  /** Removes a ClusterQueue and its usage. */
  public void removeQueue(String name) {
    queues.remove(name);
    queueNodes.remove(name);
    isRebuilt = false;
  }

  /** Declares or replaces a Cohort of weight 1; an empty parent makes it a root. */
  public void declareCohort(String name, String parent, List<ResourceGroup> groups) {
    declareCohort(name, parent, groups, BigDecimal.ONE, QuotaRules.DEFAULT);
  }

  /** Declares or replaces a Cohort without rules beyond the fields of its API. */
  public void declareCohort(
      String name, String parent, List<ResourceGroup> groups, BigDecimal weight) {
    declareCohort(name, parent, groups, weight, QuotaRules.DEFAULT);
  }

  /** Declares or replaces a Cohort; an empty parent makes it a root. */
  public void declareCohort(
      String name, String parent, List<ResourceGroup> groups, BigDecimal weight, QuotaRules rules) {
    cohorts.put(name, new Declared(parent, groups, weight, rules));
    isRebuilt = false;
  }

  /**
   * Removes a Cohort object; while members name the cohort, it continues to exist without quota of
   * its own.
   */
  public void removeCohort(String name) {
    cohorts.remove(name);
    isRebuilt = false;
  }

  /** Rebuilds the trees if declarations changed. Cost: number of nodes times number of pairs. */
  public void rebuildIfDirty() {
    if (isRebuilt) {
      return;
    }
    isRebuilt = true;
    number(queues.values());
    number(cohorts.values());
    createCohortNodes();
    cyclic = membersOfCycles();
    attachAll();
    for (QuotaNode node : queueNodes.values()) {
      rebuildRoot(node);
    }
    for (QuotaNode node : cohortNodes.values()) {
      rebuildRoot(node);
    }
  }

  private void rebuildRoot(QuotaNode node) {
    if (node.parent() == null) {
      node.rebuild(pairs.count());
    }
  }

  private void number(Collection<Declared> declared) {
    for (Declared each : declared) {
      for (ResourceGroup group : each.groups) {
        for (ResourceGroup.FlavorQuotas flavor : group.flavors()) {
          for (String resource : group.resources()) {
            pairs.number(flavor.flavor(), resource);
          }
        }
      }
    }
  }

  private void createCohortNodes() {
    Set<String> named = new HashSet<>(cohorts.keySet());
    for (Declared queue : queues.values()) {
      named.add(queue.parent);
    }
    for (Declared cohort : cohorts.values()) {
      named.add(cohort.parent);
    }
    named.remove("");
    cohortNodes.keySet().retainAll(named);
    for (String name : named) {
      cohortNodes.computeIfAbsent(name, unknown -> new QuotaNode(unknown, false));
    }
  }

  private Set<String> membersOfCycles() {
    Set<String> result = new HashSet<>();
    for (String start : cohorts.keySet()) {
      if (!cycleAbove(start).isEmpty()) {
        result.add(start);
      }
    }
    return result;
  }

  private void attachAll() {
    for (QuotaNode node : queueNodes.values()) {
      node.detach();
    }
    for (QuotaNode node : cohortNodes.values()) {
      node.detach();
    }
    boolean oversold = isOversold(queues.values()) || isOversold(cohorts.values());
    queues.forEach((name, queue) -> attach(node(queueNodes, name), queue, oversold));
    cohorts.forEach((name, cohort) -> attach(node(cohortNodes, name), cohort, oversold));
  }

  /** Whether a ClusterQueue or a Cohort has a rule of preemption. */
  public boolean hasPreemptionRules() {
    return hasPreemptionRules(queues.values()) || hasPreemptionRules(cohorts.values());
  }

  private static boolean hasPreemptionRules(Collection<Declared> declared) {
    for (Declared each : declared) {
      if (!each.rules.preemption().isNone()) {
        return true;
      }
    }
    return false;
  }

  private static boolean isOversold(Collection<Declared> declared) {
    for (Declared each : declared) {
      if (each.rules.oversellRate().compareTo(BigDecimal.ONE) != 0) {
        return true;
      }
    }
    return false;
  }

  private void attach(QuotaNode node, Declared declared, boolean oversold) {
    node.weight(declared.weight);
    node.rules(declared.rules, oversold);
    for (ResourceGroup group : declared.groups) {
      for (ResourceGroup.FlavorQuotas flavor : group.flavors()) {
        flavor
            .quotas()
            .forEach(
                (resource, quota) -> node.setQuota(pairs.number(flavor.flavor(), resource), quota));
      }
    }
    if (!declared.parent.isEmpty() && !cyclic.contains(declared.parent)) {
      node(cohortNodes, declared.parent).attach(node);
    }
  }

  private static QuotaNode node(Map<String, QuotaNode> nodes, String name) {
    QuotaNode node = nodes.get(name);
    if (node == null) {
      throw new IllegalStateException("no node for " + name);
    }
    return node;
  }

  /** The node of a ClusterQueue; null if it is not declared. */
  public @Nullable QuotaNode queue(String name) {
    return queueNodes.get(name);
  }

  /** The node of a cohort that has an object or members; null if there is none. */
  public @Nullable QuotaNode cohort(String name) {
    return cohortNodes.get(name);
  }

  /** Names of all cohorts that have an object or members. */
  public Set<String> cohortNames() {
    return Collections.unmodifiableSet(cohortNodes.keySet());
  }

  /**
   * The cycle that a cohort's chain of parents runs into, from the first member that is met on,
   * with that one again at the end; such a chain has no root. Empty if there is none.
   */
  public List<String> cycleAbove(String cohort) {
    SequencedSet<String> chain = new LinkedHashSet<>();
    String name = cohort;
    while (chain.add(name)) {
      Declared declared = cohorts.get(name);
      if (declared == null || declared.parent.isEmpty()) {
        return List.of();
      }
      name = declared.parent;
    }
    List<String> cycle = new ArrayList<>(chain);
    cycle.add(name);
    return cycle.subList(cycle.indexOf(name), cycle.size());
  }

  /** Whether a cohort's chain of parents runs into a cycle. */
  public boolean inCycle(String cohort) {
    return cyclic.contains(cohort);
  }
}
