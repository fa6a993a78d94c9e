package dev.sluice.core.queue;

import dev.sluice.core.model.PendingWorkload.ReplacedSlice;
import dev.sluice.core.model.PodSetAssignment;
import dev.sluice.core.model.PodSetRequest;
import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.core.model.RequestShape;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.quota.QuotaNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The demand of a request shape on one queue: amounts per pod set, and the pod sets that get the
 * same flavors. Computed once per class. Immutable.
 */
public final class ResourceDemand {

  private static final String PODS = "pods";

  /**
   * Pod sets that get the same flavors, and the sum of their requests.
   *
   * @param members indexes of the pod sets in the shape
   * @param name name of the first pod set, used for the bundle
   * @param amounts the sum of the requests, by resource
   */
  public record Bundle(List<Integer> members, String name, SortedMap<String, Long> amounts) {}

  private final ClusterQueueCache queue;
  private final RequestShape shape;
  private final List<SortedMap<String, Long>> totals = new ArrayList<>();
  private final List<Bundle> bundles = new ArrayList<>();
  private final Map<Integer, Long> held = new HashMap<>(0);
  private final long steps;
  private final boolean asksForTopology;
  private @Nullable Fixed fixed;
  private boolean fixedKnown;

  /**
   * A demand without a choice of flavors.
   *
   * @param group the index of the resource group of all pairs
   * @param pairs the numbers of the pairs, in the order of the group
   * @param amounts the amount of each pair
   */
  public record Fixed(int group, int[] pairs, long[] amounts) {

    /** Whether less than this is available to a node. */
    public boolean exceeds(QuotaNode node) {
      for (int i = 0; i < pairs.length; i++) {
        if (amounts[i] > node.available(pairs[i])) {
          return true;
        }
      }
      return false;
    }
  }

  /** The demand of {@code shape} on {@code queue}. */
  public ResourceDemand(ClusterQueueCache queue, RequestShape shape) {
    this.queue = queue;
    this.shape = shape;
    long spare = 0;
    for (PodSetRequest podSet : shape.podSets()) {
      totals.add(Collections.unmodifiableSortedMap(total(podSet)));
      spare += podSet.spare();
    }
    this.steps = spare;
    shape.replaced().ifPresent(replaced -> replaced.podSets().forEach(this::hold));
    this.asksForTopology =
        shape.podSets().stream().anyMatch(podSet -> podSet.topology().isExplicit());
    for (List<Integer> members : bundledIndexes()) {
      SortedMap<String, Long> sum = new TreeMap<>();
      for (int member : members) {
        totals
            .get(member)
            .forEach((resource, amount) -> sum.merge(resource, amount, ResourceAmounts::add));
      }
      bundles.add(
          new Bundle(
              List.copyOf(members),
              shape.podSets().get(members.getFirst()).name(),
              Collections.unmodifiableSortedMap(sum)));
    }
  }

  /**
   * The number of steps in which partial admission can reduce the demand until every pod set is at
   * its minimum; 0 if it can't be reduced. All pod sets are reduced together, in proportion.
   */
  public long steps() {
    return steps;
  }

  /** The demand with fewer pods: reduced by {@code step} of {@link #steps} towards the minimum. */
  public ResourceDemand reduced(long step) {
    List<PodSetRequest> fewer = new ArrayList<>(shape.podSets().size());
    for (PodSetRequest podSet : shape.podSets()) {
      fewer.add(podSet.withCount((int) (podSet.count() - (long) podSet.spare() * step / steps)));
    }
    return new ResourceDemand(queue, shape.withPodSets(fewer));
  }

  /**
   * The demand if there is no choice: one bundle that can't be reduced, whose resources all belong
   * to one group with one flavor. Null if there may be a choice.
   */
  public @Nullable Fixed fixed() {
    if (!fixedKnown) {
      fixed = findFixed();
      fixedKnown = true;
    }
    return fixed;
  }

  private @Nullable Fixed findFixed() {
    if (bundles.size() != 1 || steps > 0 || shape.cost().flatMap(CostRules::maxPrice).isPresent()) {
      return null;
    }
    SortedMap<String, Long> amounts = bundles.getFirst().amounts();
    if (amounts.isEmpty()) {
      return null;
    }
    int index = queue.groupOf(amounts.firstKey());
    if (index < 0) {
      return null;
    }
    ClusterQueueCache.Group group = queue.groups().get(index);
    if (group.flavors().size() != 1 || !group.resources().containsAll(amounts.keySet())) {
      return null;
    }
    if (otherFlavor(bundles.getFirst(), group, group.flavors().getFirst()) != null) {
      return null;
    }
    int[] pairs = new int[amounts.size()];
    long[] each = new long[amounts.size()];
    int next = 0;
    for (int i = 0; i < group.resources().size(); i++) {
      Long amount = amounts.get(group.resources().get(i));
      if (amount != null) {
        pairs[next] = group.pairs()[0][i];
        each[next] = beyondHeld(pairs[next], amount);
        next++;
      }
    }
    return new Fixed(index, pairs, each);
  }

  /** Counts what the replaced slice holds in the queue, as its reservation does. */
  private void hold(PodSetAssignment podSet) {
    podSet
        .usage()
        .forEach(
            (resource, amount) -> {
              int pair = queue.pair(resource, podSet.flavors().get(resource));
              if (pair >= 0) {
                held.merge(pair, Math.max(0, amount), ResourceAmounts::add);
              }
            });
  }

  /**
   * What is charged for an amount of a pair: the part that the replaced slice doesn't hold already.
   */
  public long beyondHeld(int pair, long amount) {
    return held.isEmpty() ? amount : Math.max(0, amount - held.getOrDefault(pair, 0L));
  }

  /** Whether the Workload takes the place of a slice that has quota. */
  public boolean replaces() {
    return shape.replaced().isPresent();
  }

  /** The UID of the slice that the Workload replaces; null if it replaces none. */
  public @Nullable String replacedUid() {
    return shape.replaced().map(ReplacedSlice::uid).orElse(null);
  }

  /** What is reserved for the pod sets of the slice that the Workload replaces. */
  public List<PodSetAssignment> replaced() {
    return shape.replaced().map(ReplacedSlice::podSets).orElse(List.of());
  }

  /**
   * The flavor that a bundle of pod sets has to take in a resource group, because the replaced
   * slice has it, where it differs from {@code flavor}; null if {@code flavor} may be used.
   */
  public @Nullable String otherFlavor(Bundle bundle, ClusterQueueCache.Group group, String flavor) {
    ReplacedSlice replaced = shape.replaced().orElse(null);
    if (replaced == null) {
      return null;
    }
    for (int member : bundle.members()) {
      for (PodSetAssignment podSet : replaced.podSets()) {
        if (podSet.name().equals(shape.podSets().get(member).name())) {
          for (Map.Entry<String, String> has : podSet.flavors().entrySet()) {
            if (!has.getValue().equals(flavor)
                && group.resources().contains(has.getKey())
                && bundle.amounts().containsKey(has.getKey())) {
              return has.getValue();
            }
          }
        }
      }
    }
    return null;
  }

  /**
   * Whether places are looked for, or a topology is asked for that the queue may not have: then
   * quota alone doesn't decide.
   */
  public boolean needsTopology() {
    return queue.topologyAware() || asksForTopology;
  }

  /** Whether the demand is held to nominal quota: the Workload is guaranteed in this queue. */
  public boolean guaranteed() {
    return shape.guaranteed() && queue.spec().rules().countsPreemptible();
  }

  /** What counts for the costs of the Workload; empty if nothing does. */
  public Optional<CostRules> costRules() {
    return shape.cost();
  }

  /** The queue of the demand. */
  public ClusterQueueCache queue() {
    return queue;
  }

  /** The pod sets. */
  public List<PodSetRequest> podSets() {
    return shape.podSets();
  }

  /**
   * The request of all pods of a pod set; the pods themselves are counted if the queue has quota
   * for pods, and resources that the queue ignores are left out.
   */
  public SortedMap<String, Long> total(int podSet) {
    return totals.get(podSet);
  }

  /** The bundles of pod sets, in the order of the spec. */
  public List<Bundle> bundles() {
    return Collections.unmodifiableList(bundles);
  }

  private SortedMap<String, Long> total(PodSetRequest podSet) {
    SortedMap<String, Long> total = new TreeMap<>();
    podSet
        .perPod()
        .forEach(
            (resource, each) ->
                total.put(resource, ResourceAmounts.multiply(each, podSet.count())));
    if (queue.groupOf(PODS) >= 0) {
      total.put(PODS, (long) podSet.count());
    }
    if (queue.spec().ignoresUndeclared()) {
      total.keySet().removeIf(resource -> queue.groupOf(resource) < 0);
    }
    return total;
  }

  /**
   * Indexes of pod sets that get the same flavors: the pod sets of one named group together, every
   * other pod set alone.
   */
  private List<List<Integer>> bundledIndexes() {
    Map<String, List<Integer>> named = new LinkedHashMap<>();
    List<List<Integer>> result = new ArrayList<>();
    for (int i = 0; i < shape.podSets().size(); i++) {
      String group = shape.podSets().get(i).group();
      List<Integer> members = group.isEmpty() ? null : named.get(group);
      if (members == null) {
        members = new ArrayList<>();
        result.add(members);
        if (!group.isEmpty()) {
          named.put(group, members);
        }
      }
      members.add(i);
    }
    return result;
  }
}
