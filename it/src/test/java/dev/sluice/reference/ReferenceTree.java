package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.QueueRules.QuotaRules;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The quota tree as a copy of the world at one moment; every number is worked out anew each time it
 * is asked for (docs/scheduling-semantics.md#quota-tree).
 */
final class ReferenceTree {

  /** A ClusterQueue or a cohort; they may have the same name. */
  record Node(boolean isQueue, String name) {}

  private final Map<String, ClusterQueueSpec> queues;
  private final Map<String, CohortSpec> cohorts;
  private final Map<String, Map<FlavorResource, Long>> usage = new HashMap<>();

  /** What those use who may not be preempted. */
  private final Map<String, Map<FlavorResource, Long>> guaranteed = new HashMap<>();

  ReferenceTree(Map<String, ClusterQueueSpec> queues, Map<String, CohortSpec> cohorts) {
    // In the order of names, in which cohorts of one share are looked at.
    this.queues = new TreeMap<>(queues);
    this.cohorts = new TreeMap<>(cohorts);
  }

  /** The same world, to be changed without changing this one. */
  ReferenceTree copy() {
    ReferenceTree copy = new ReferenceTree(queues, cohorts);
    usage.forEach((queue, amounts) -> copy.usage.put(queue, new HashMap<>(amounts)));
    guaranteed.forEach((queue, amounts) -> copy.guaranteed.put(queue, new HashMap<>(amounts)));
    return copy;
  }

  void remove(String queue, Map<FlavorResource, Long> amounts) {
    Map<FlavorResource, Long> own = usage.computeIfAbsent(queue, any -> new HashMap<>());
    amounts.forEach(
        (pair, amount) ->
            own.put(pair, ResourceAmounts.subtract(own.getOrDefault(pair, 0L), amount)));
  }

  void add(String queue, Map<FlavorResource, Long> amounts) {
    Map<FlavorResource, Long> own = usage.computeIfAbsent(queue, any -> new HashMap<>());
    amounts.forEach((pair, amount) -> own.merge(pair, amount, ResourceAmounts::add));
  }

  /** The same, and so of those who may not be preempted where that is so. */
  void add(String queue, Map<FlavorResource, Long> amounts, boolean mayNotBePreempted) {
    add(queue, amounts);
    if (mayNotBePreempted) {
      Map<FlavorResource, Long> own = guaranteed.computeIfAbsent(queue, any -> new HashMap<>());
      amounts.forEach((pair, amount) -> own.merge(pair, amount, ResourceAmounts::add));
    }
  }

  /** What is left for those who may not be preempted, on the whole path. */
  long guaranteedLeft(String queue, FlavorResource pair) {
    List<Node> path = new ArrayList<>(List.of(new Node(true, queue)));
    path.addAll(ancestors(path.getFirst()));
    if (path.size() > 1 && rules(path.getFirst()).cohortGuarantee()) {
      path.removeFirst();
    }
    long least = Long.MAX_VALUE;
    for (Node node : path) {
      long used = 0;
      for (String each : queues.keySet()) {
        if (isBelow(node, each)) {
          used =
              ResourceAmounts.add(
                  used, guaranteed.getOrDefault(each, Map.of()).getOrDefault(pair, 0L));
        }
      }
      least = Math.min(least, ResourceAmounts.subtract(allNominal(node, pair), used));
    }
    return Math.max(0, least);
  }

  private long allNominal(Node node, FlavorResource pair) {
    long sum = quota(node, pair).nominal();
    for (Node child : children(node)) {
      sum = ResourceAmounts.add(sum, allNominal(child, pair));
    }
    return sum;
  }

  /** Every pair that a queue or cohort has quota of, or that is used. */
  Set<FlavorResource> pairs() {
    Set<FlavorResource> pairs = new HashSet<>();
    usage.values().forEach(amounts -> pairs.addAll(amounts.keySet()));
    queues.values().forEach(queue -> addPairs(queue.groups(), pairs));
    cohorts.values().forEach(cohort -> addPairs(cohort.groups(), pairs));
    return pairs;
  }

  private static void addPairs(List<ResourceGroup> groups, Set<FlavorResource> pairs) {
    for (ResourceGroup group : groups) {
      for (ResourceGroup.FlavorQuotas flavor : group.flavors()) {
        for (String resource : flavor.quotas().keySet()) {
          pairs.add(new FlavorResource(flavor.flavor(), resource));
        }
      }
    }
  }

  /** The weight where quota is shared fairly. */
  BigDecimal weight(Node node) {
    if (node.isQueue()) {
      ClusterQueueSpec spec = queues.get(node.name());
      return spec == null ? BigDecimal.ONE : spec.fairWeight();
    }
    CohortSpec spec = cohorts.get(node.name());
    return spec == null ? BigDecimal.ONE : spec.fairWeight();
  }

  long usageOfQueue(String queue, FlavorResource pair) {
    return usage(new Node(true, queue), pair);
  }

  /** {@code usage + val ≤ available} in the sense of the contract. */
  long available(String queue, FlavorResource pair) {
    return Math.max(0, available(new Node(true, queue), pair));
  }

  long potential(String queue, FlavorResource pair) {
    return potential(new Node(true, queue), pair);
  }

  Quota quotaOfQueue(String queue, FlavorResource pair) {
    return quota(new Node(true, queue), pair);
  }

  boolean hasCohort(String queue) {
    return parent(new Node(true, queue)).isPresent();
  }

  /** Whether the chain of parents of this queue ends. */
  boolean cyclic(String queue) {
    Set<Node> seen = new HashSet<>();
    Optional<Node> at = Optional.of(new Node(true, queue));
    while (at.isPresent()) {
      if (!seen.add(at.get())) {
        return true;
      }
      at = parent(at.get());
    }
    return false;
  }

  /** Names of all queues below the same root; the queue itself when it has no cohort. */
  Set<String> tree(String queue) {
    if (cyclic(queue)) {
      return Set.of(queue);
    }
    Set<String> members = new HashSet<>();
    Node root = root(new Node(true, queue));
    for (String each : queues.keySet()) {
      if (!cyclic(each) && root(new Node(true, each)).equals(root)) {
        members.add(each);
      }
    }
    return members;
  }

  /** Where quota for {@code val} would come from: how high, and whether there is more above. */
  record Lowest(int height, boolean hasParent) {}

  Lowest lowest(String queue, FlavorResource pair, long val) {
    Node node = new Node(true, queue);
    Optional<Node> up = parent(node);
    if (up.isEmpty()
        || ResourceAmounts.add(usage(node, pair), val) <= quota(node, pair).nominal()) {
      return new Lowest(0, up.isPresent());
    }
    long remaining = ResourceAmounts.subtract(val, localFree(node, pair));
    while (true) {
      Node cohort = up.get();
      up = parent(cohort);
      boolean holds = ResourceAmounts.add(usage(cohort, pair), remaining) <= subtree(cohort, pair);
      if (holds || up.isEmpty()) {
        return new Lowest(height(cohort), holds && up.isPresent());
      }
      remaining = ResourceAmounts.subtract(remaining, localFree(cohort, pair));
    }
  }

  /** The ancestors of a node, from its parent to the root; none of a queue below a cycle. */
  List<Node> ancestors(Node node) {
    List<Node> ancestors = new ArrayList<>();
    if (node.isQueue() && cyclic(node.name())) {
      return ancestors;
    }
    for (Optional<Node> up = parent(node); up.isPresent(); up = parent(up.get())) {
      ancestors.add(up.get());
    }
    return ancestors;
  }

  /** The rules of preemption for those who hold quota of a queue: each from the nearest. */
  PreemptionRules preemptionRules(String queue) {
    Node self = new Node(true, queue);
    PreemptionRules all = rules(self).preemption();
    for (Node cohort : ancestors(self)) {
      all = all.or(rules(cohort).preemption());
    }
    return all;
  }

  /** Names from the root down to a queue. */
  List<String> path(String queue) {
    List<String> names = new ArrayList<>(List.of(queue));
    ancestors(new Node(true, queue)).forEach(cohort -> names.addFirst(cohort.name()));
    return names;
  }

  /** How much of what it may use is not used. */
  long unused(Node node, FlavorResource pair) {
    return ResourceAmounts.subtract(subtree(node, pair), usage(node, pair));
  }

  private int height(Node cohort) {
    int height = 1;
    for (Node child : children(cohort)) {
      if (!child.isQueue()) {
        height = Math.max(height, 1 + height(child));
      }
    }
    return height;
  }

  /** S as the objects declare it, where no rate counts. */
  private long plainSubtree(Node node, FlavorResource pair) {
    long sum = plainQuota(node, pair).nominal();
    for (Node child : children(node)) {
      sum =
          ResourceAmounts.addQuota(
              sum, ResourceAmounts.subtract(plainSubtree(child, pair), local(child, pair)));
    }
    return sum;
  }

  private QuotaRules rules(Node node) {
    if (node.isQueue()) {
      ClusterQueueSpec spec = queues.get(node.name());
      return spec == null ? QuotaRules.DEFAULT : spec.rules().quota();
    }
    CohortSpec spec = cohorts.get(node.name());
    return spec == null ? QuotaRules.DEFAULT : spec.rules();
  }

  /** Whether a queue or a cohort above it has as many Workloads as it may, of these. */
  boolean atWorkloadLimit(String queue, List<String> queuesOfHolders) {
    List<Node> path = new ArrayList<>(List.of(new Node(true, queue)));
    path.addAll(ancestors(path.getFirst()));
    return path.stream()
        .anyMatch(
            node ->
                rules(node).maxWorkloads().isPresent()
                    && queuesOfHolders.stream()
                            .filter(queues::containsKey)
                            .filter(holder -> isBelow(node, holder))
                            .count()
                        >= rules(node).maxWorkloads().getAsInt());
  }

  private boolean isBelow(Node node, String queue) {
    Node own = new Node(true, queue);
    return node.equals(own) || ancestors(own).contains(node);
  }

  /** S. */
  long subtree(Node node, FlavorResource pair) {
    long sum = quota(node, pair).nominal();
    for (Node child : children(node)) {
      sum =
          ResourceAmounts.addQuota(
              sum, ResourceAmounts.subtract(subtree(child, pair), local(child, pair)));
    }
    return sum;
  }

  /** The part that is never lent. */
  private long local(Node node, FlavorResource pair) {
    long limit = quota(node, pair).lendingLimit();
    return limit == ResourceAmounts.UNLIMITED
        ? 0
        : Math.max(0, ResourceAmounts.subtract(plainSubtree(node, pair), limit));
  }

  /** The part that is never lent, as far as it is free. */
  long localFree(Node node, FlavorResource pair) {
    return Math.max(0, ResourceAmounts.subtract(local(node, pair), usage(node, pair)));
  }

  /** U. */
  long usage(Node node, FlavorResource pair) {
    if (node.isQueue()) {
      return usage.getOrDefault(node.name(), Map.of()).getOrDefault(pair, 0L);
    }
    long sum = 0;
    for (Node child : children(node)) {
      sum =
          ResourceAmounts.add(
              sum, Math.max(0, ResourceAmounts.subtract(usage(child, pair), local(child, pair))));
    }
    return sum;
  }

  private long available(Node node, FlavorResource pair) {
    Optional<Node> up = parent(node);
    long used = usage(node, pair);
    if (up.isEmpty()) {
      return ResourceAmounts.subtract(subtree(node, pair), used);
    }
    long fromAbove = available(up.get(), pair);
    long limit = quota(node, pair).borrowingLimit();
    if (limit != ResourceAmounts.UNLIMITED) {
      long local = local(node, pair);
      long lendable = ResourceAmounts.subtract(subtree(node, pair), local);
      long beyond = Math.max(0, ResourceAmounts.subtract(used, local));
      fromAbove =
          Math.min(
              fromAbove,
              ResourceAmounts.addQuota(ResourceAmounts.subtract(lendable, beyond), limit));
    }
    return ResourceAmounts.addQuota(localFree(node, pair), fromAbove);
  }

  long potential(Node node, FlavorResource pair) {
    Optional<Node> up = parent(node);
    if (up.isEmpty()) {
      return subtree(node, pair);
    }
    long most = ResourceAmounts.addQuota(local(node, pair), potential(up.get(), pair));
    long limit = quota(node, pair).borrowingLimit();
    return limit == ResourceAmounts.UNLIMITED
        ? most
        : Math.min(most, ResourceAmounts.addQuota(subtree(node, pair), limit));
  }

  /**
   * What a queue can use that nobody else can take (docs/backfill.md#planned-starts): its own, and
   * what the cohorts above have themselves, unless another queue of the tree may borrow.
   */
  long ofAlone(String queue, FlavorResource pair) {
    Node self = new Node(true, queue);
    boolean others =
        tree(queue).stream()
            .filter(name -> !name.equals(queue))
            .anyMatch(
                name ->
                    lists(name, pair) && quota(new Node(true, name), pair).borrowingLimit() > 0);
    long most = 0;
    for (Node cohort : others ? List.<Node>of() : ancestors(self).reversed()) {
      most =
          ResourceAmounts.add(
              quota(cohort, pair).nominal(), Math.min(most, quota(cohort, pair).borrowingLimit()));
    }
    return ResourceAmounts.add(
        quota(self, pair).nominal(), Math.min(most, quota(self, pair).borrowingLimit()));
  }

  private boolean lists(String queue, FlavorResource pair) {
    return Objects.requireNonNull(queues.get(queue)).groups().stream()
        .anyMatch(
            group ->
                group.resources().contains(pair.resource())
                    && group.flavors().stream()
                        .anyMatch(each -> each.flavor().equals(pair.flavor())));
  }

  /** What is declared times the rate of the node, but for what is lent. */
  private Quota quota(Node node, FlavorResource pair) {
    Quota plain = plainQuota(node, pair);
    BigDecimal rate = rules(node).oversellRate();
    return new Quota(
        times(plain.nominal(), rate), times(plain.borrowingLimit(), rate), plain.lendingLimit());
  }

  private static long times(long amount, BigDecimal rate) {
    return amount == ResourceAmounts.UNLIMITED
        ? amount
        : rate.multiply(BigDecimal.valueOf(amount))
            .toBigInteger()
            .min(BigInteger.valueOf(ResourceAmounts.UNLIMITED - 1))
            .longValueExact();
  }

  private Quota plainQuota(Node node, FlavorResource pair) {
    List<ResourceGroup> groups;
    if (node.isQueue()) {
      ClusterQueueSpec spec = queues.get(node.name());
      groups = spec == null ? List.of() : spec.groups();
    } else {
      CohortSpec spec = cohorts.get(node.name());
      groups = spec == null ? List.of() : spec.groups();
    }
    for (ResourceGroup group : groups) {
      for (ResourceGroup.FlavorQuotas flavor : group.flavors()) {
        Quota quota = flavor.quotas().get(pair.resource());
        if (flavor.flavor().equals(pair.flavor()) && quota != null) {
          return quota;
        }
      }
    }
    return Quota.NONE;
  }

  Optional<Node> parent(Node node) {
    String name;
    if (node.isQueue()) {
      ClusterQueueSpec spec = queues.get(node.name());
      name = spec == null ? "" : spec.cohort();
    } else {
      CohortSpec spec = cohorts.get(node.name());
      name = spec == null ? "" : spec.parent();
    }
    return name.isEmpty() ? Optional.empty() : Optional.of(new Node(false, name));
  }

  private Node root(Node node) {
    Node at = node;
    Optional<Node> up = parent(at);
    while (up.isPresent()) {
      at = up.get();
      up = parent(at);
    }
    return at;
  }

  Collection<Node> children(Node node) {
    List<Node> children = new ArrayList<>();
    if (!node.isQueue()) {
      for (ClusterQueueSpec queue : queues.values()) {
        if (queue.cohort().equals(node.name())) {
          children.add(new Node(true, queue.name()));
        }
      }
      for (CohortSpec cohort : cohorts.values()) {
        if (cohort.parent().equals(node.name())) {
          children.add(new Node(false, cohort.name()));
        }
      }
    }
    return children;
  }
}
