package dev.sluice.core.queue;

import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.ReplacedSlice;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.queue.OrderedClasses.LocalQueueLane;
import dev.sluice.core.quota.QuotaNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Pending Workloads of one queue with the same request shape, the same priority, and with admission
 * fair sharing the same LocalQueue. Scheduling treats them alike: when one member doesn't fit, none
 * does, and the whole class becomes inadmissible. Confined to the scheduler thread.
 */
public final class EquivalenceClass extends IndexedHeap.Entry {

  /** Order of classes in a queue: its queueing policy compares their oldest members. */
  static final Comparator<EquivalenceClass> BY_RANK =
      (one, two) -> one.queue.order().compare(one.head(), two.head());

  /** {@link #BY_RANK}, after the usage of the LocalQueues with admission fair sharing. */
  static final Comparator<EquivalenceClass> BY_USAGE_AND_RANK =
      (one, two) -> {
        int byUsage = one.lane.usage().compareTo(two.lane.usage());
        return byUsage != 0 ? byUsage : BY_RANK.compare(one, two);
      };

  private final PendingQueue queue;
  private final LocalQueueLane lane;
  private final RequestShape shape;
  private final long priority;
  private final IndexedHeap<QueuedWorkload> items = new IndexedHeap<>(QueuedWorkload.BY_AGE);
  private final Map<LocalQueueId, Integer> countsByLocalQueue = new HashMap<>(2);
  private @Nullable Explanation explanation;
  private List<Shortage> missingQuota = List.of();
  private final List<QueuedWorkload> unreported = new ArrayList<>(0);
  private @Nullable Explanation lastReported;
  private int held;
  private @Nullable ResourceDemand resourceDemand;
  private @Nullable SchedulingHash schedulingHash;

  /**
   * The amount of a pair that the members need and that was not available when the class became
   * inadmissible.
   */
  public record Shortage(int pair, long amount) {}

  EquivalenceClass(PendingQueue queue, LocalQueueLane lane, RequestShape shape, long priority) {
    this.queue = queue;
    this.lane = lane;
    this.shape = shape;
    this.priority = priority;
  }

  /** The queue of the class. */
  public PendingQueue queue() {
    return queue;
  }

  /** The lane of the class, whether the class is active or not. */
  LocalQueueLane lane() {
    return lane;
  }

  /**
   * Usage over time of the LocalQueue, as the order compares it; without admission fair sharing one
   * usage of all LocalQueues.
   */
  public LocalQueueUsage usage() {
    return lane.usage();
  }

  /** The request of each member. */
  public RequestShape shape() {
    return shape;
  }

  /** The demand of each member on {@code of}, which must be the cache of the class's queue. */
  public ResourceDemand demand(ClusterQueueCache of) {
    ResourceDemand known = resourceDemand;
    if (known == null || known.queue() != of) {
      known = new ResourceDemand(of, shape);
      resourceDemand = known;
    }
    return known;
  }

  /**
   * What the metric of different requests compares; worked out once.
   *
   * @param names whether the names of pod sets make a difference
   */
  SchedulingHash schedulingHash(boolean names) {
    SchedulingHash known = schedulingHash;
    if (known == null || known.hasNames() != names) {
      known = new SchedulingHash(shape, priority, names);
      schedulingHash = known;
    }
    return known;
  }

  /** The priority of each member. */
  public long priority() {
    return priority;
  }

  /**
   * Whether the class comes before another class of the same queue: its LocalQueue has less usage,
   * with admission fair sharing, or its oldest member comes first.
   */
  public boolean isOrderedBefore(EquivalenceClass other) {
    return BY_USAGE_AND_RANK.compare(this, other) < 0;
  }

  /** Number of members that are not held. */
  public int size() {
    return items.size();
  }

  /** Why the class is inadmissible; null while the class is active. */
  public @Nullable Explanation explanation() {
    return explanation;
  }

  /** The missing amounts when the class became inadmissible. */
  public List<Shortage> missingQuota() {
    return missingQuota;
  }

  /** Sets the missing amounts of the head, without making the class inadmissible. */
  public void missingQuota(List<Shortage> what) {
    missingQuota = List.copyOf(what);
  }

  /** The members that are not held, in no particular order. */
  public List<QueuedWorkload> members() {
    return new ArrayList<>(items.entries());
  }

  /**
   * Returns the members whose explanation was not reported yet: members added since the last call,
   * or all members if the reason changed. Empty while the class is active.
   */
  public List<QueuedWorkload> drainUnreported() {
    Explanation reason = explanation;
    if (reason == null) {
      return List.of();
    }
    boolean changed = lastReported == null || lastReported.reason() != reason.reason();
    pruneUnreported();
    List<QueuedWorkload> result = changed ? members() : new ArrayList<>(unreported);
    lastReported = reason;
    unreported.clear();
    return result;
  }

  /**
   * The oldest member.
   *
   * @throws IllegalStateException when the class has no members
   */
  public QueuedWorkload head() {
    QueuedWorkload first = items.first();
    if (first == null) {
      throw new IllegalStateException("a class without members has no head");
    }
    return first;
  }

  /**
   * Since when the longest waiting member that is not held waits, in microseconds since the epoch;
   * {@link Long#MAX_VALUE} if there is none. The head may have run since it was queued.
   */
  long waitsSinceMicros() {
    return items.least(QueuedWorkload::queuedAtMicros, QueuedWorkload::waitsSinceMicros);
  }

  boolean isEmpty() {
    return items.isEmpty();
  }

  /** Whether the class has no members, held ones included. */
  public boolean isUnused() {
    return items.isEmpty() && held == 0;
  }

  /** Number of members that are held. */
  int heldMembers() {
    return held;
  }

  void held(int more) {
    held += more;
  }

  void inadmissible(@Nullable Explanation reason, List<Shortage> what) {
    explanation = reason;
    missingQuota = List.copyOf(what);
  }

  void add(QueuedWorkload item) {
    items.add(item);
    unreported.add(item);
    countsByLocalQueue.merge(item.localQueue(), 1, Integer::sum);
  }

  void remove(QueuedWorkload item) {
    items.remove(item);
    if (unreported.size() > 2 * items.size()) {
      pruneUnreported();
    }
    countsByLocalQueue.computeIfPresent(
        item.localQueue(), (queueId, size) -> size == 1 ? null : size - 1);
  }

  /**
   * Drops members that left. They are dropped in bulk, because a search for each would be
   * expensive.
   */
  private void pruneUnreported() {
    unreported.removeIf(item -> !item.inHeap());
  }

  /**
   * The class as a value.
   *
   * @param heldMembers its members that are held
   * @param explanations the indexes of explanations
   * @param current the queue with its spec of now; null if the queue was deleted
   */
  PendingQueueExport.ClassExport export(
      List<QueuedWorkload> heldMembers,
      PendingQueueExport.ExplanationIndex explanations,
      @Nullable ClusterQueueCache current) {
    List<QueuedWorkload> members = members();
    members.addAll(heldMembers);
    Map<QueuedWorkload, Integer> indexes = new IdentityHashMap<>();
    for (int i = 0; i < members.size() && !unreported.isEmpty(); i++) {
      indexes.put(members.get(i), i);
    }
    List<Integer> joined = new ArrayList<>(unreported.size());
    for (QueuedWorkload item : unreported) {
      Integer index = indexes.get(item);
      if (index != null) {
        joined.add(index);
      }
    }
    return new PendingQueueExport.ClassExport(
        shape,
        priority,
        explanations.of(explanation),
        missingQuota,
        explanations.of(lastReported),
        members.stream().map(item -> item.export(explanations, current)).toList(),
        joined);
  }

  /**
   * Takes a state over, into a class that has no members.
   *
   * @param exported the state
   * @param members the members, of which those from {@code firstHeld} on are held
   * @param exportedQueue the state of the queue
   */
  void restore(
      PendingQueueExport.ClassExport exported,
      List<QueuedWorkload> members,
      int firstHeld,
      PendingQueueExport exportedQueue) {
    members.subList(0, firstHeld).forEach(this::add);
    held = members.size() - firstHeld;
    explanation = exportedQueue.explanation(exported.explanation());
    missingQuota = exported.missingQuota();
    lastReported = exportedQueue.explanation(exported.lastReported());
    unreported.clear();
    exported.unreported().forEach(index -> unreported.add(members.get(index)));
  }

  Map<LocalQueueId, Integer> countsByLocalQueue() {
    return countsByLocalQueue;
  }

  /**
   * What the metric of pending requests compares: the request and the priority, without what tells
   * the slices of elastic jobs and those that they replace apart, and without names of pod sets if
   * these make no difference. Classes of one queue with equal hashes may differ in these names, in
   * the slice or in the LocalQueue.
   */
  static final class SchedulingHash {

    private final RequestShape shape;
    private final long priority;
    private final boolean names;
    private final int code;

    /**
     * Hashes the request of a class.
     *
     * @param names whether the names of pod sets make a difference
     */
    SchedulingHash(RequestShape shape, long priority, boolean names) {
      this.shape = shape;
      this.priority = priority;
      this.names = names;
      this.code = 31 * compared().hashCode() + Long.hashCode(priority);
    }

    /** Whether names of pod sets make a difference to this hash. */
    boolean hasNames() {
      return names;
    }

    /** Made when it is needed, and not kept: there are as many hashes as different requests. */
    private RequestShape compared() {
      RequestShape request = shape.withoutSlice().replacing(Optional.empty());
      if (names) {
        return request;
      }
      List<PodSetRequest> podSets = new ArrayList<>(request.podSets().size());
      request.podSets().forEach(podSet -> podSets.add(podSet.withName("")));
      return request.withPodSets(podSets);
    }

    @Override
    public boolean equals(Object other) {
      return this == other
          || other instanceof SchedulingHash that
              && code == that.code
              && priority == that.priority
              && names == that.names
              && (shape.equals(that.shape) || compared().equals(that.compared()));
    }

    @Override
    public int hashCode() {
      return code;
    }
  }

  /**
   * The demand of a request shape on one queue: amounts per pod set, and the pod sets that get the
   * same flavors. Computed once per class. Immutable.
   */
  public static final class ResourceDemand {

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
     * The number of steps in which partial admission can reduce the demand until every pod set is
     * at its minimum; 0 if it can't be reduced. All pod sets are reduced together, in proportion.
     */
    public long steps() {
      return steps;
    }

    /**
     * The demand with fewer pods: reduced by {@code step} of {@link #steps} towards the minimum.
     */
    public ResourceDemand reduced(long step) {
      List<PodSetRequest> fewer = new ArrayList<>(shape.podSets().size());
      for (PodSetRequest podSet : shape.podSets()) {
        fewer.add(podSet.withCount((int) (podSet.count() - (long) podSet.spare() * step / steps)));
      }
      return new ResourceDemand(queue, shape.withPodSets(fewer));
    }

    /**
     * The demand if there is no choice: one bundle that can't be reduced, whose resources all
     * belong to one group with one flavor. Null if there may be a choice.
     */
    public @Nullable Fixed fixed() {
      if (!fixedKnown) {
        fixed = findFixed();
        fixedKnown = true;
      }
      return fixed;
    }

    private @Nullable Fixed findFixed() {
      if (bundles.size() != 1
          || steps > 0
          || shape.cost().flatMap(CostRules::maxPrice).isPresent()) {
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
     * What is charged for an amount of a pair: the part that the replaced slice doesn't hold
     * already.
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
    public @Nullable String otherFlavor(
        Bundle bundle, ClusterQueueCache.Group group, String flavor) {
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
     * Indexes of pod sets that get the same flavors: the pod sets of one named group together,
     * every other pod set alone.
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
}
