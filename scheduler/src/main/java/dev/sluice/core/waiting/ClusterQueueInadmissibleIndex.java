package dev.sluice.core.waiting;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.queue.EquivalenceClass.ResourceDemand;
import dev.sluice.core.queue.LocalQueueUsage;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.waiting.InadmissibleIndex.LeastMissing;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Inadmissible classes of one queue. Those of each LocalQueue (without admission fair sharing: all
 * of them) are kept in the queue's order, with their missing amounts adjacent in memory, and the
 * least missing amounts are kept separately: one comparison shows whether any class may fit now,
 * and a few more find the first such class. LocalQueues are compared by usage when they are looked
 * at, so that a change of usage costs nothing here.
 */
final class ClusterQueueInadmissibleIndex {

  /** The condition under which a class may fit again. */
  static final class Requirement {
    private final List<EquivalenceClass.Shortage> shortages;
    private final boolean competing;
    private final boolean preempts;

    /** The tree's event counter at the time when the class was found not to fit. */
    private long event;

    /**
     * @param competing whether any release of quota may make the class fit
     * @param preempts whether new preemption targets may make the class fit
     * @param event the tree's event counter
     */
    Requirement(
        List<EquivalenceClass.Shortage> shortages,
        boolean competing,
        boolean preempts,
        long event) {
      this.shortages = shortages;
      this.competing = competing;
      this.preempts = preempts;
      this.event = event;
    }

    List<EquivalenceClass.Shortage> shortages() {
      return shortages;
    }

    boolean competing() {
      return competing;
    }

    boolean preempts() {
      return preempts;
    }
  }

  private static final Comparator<EquivalenceClass> BY_ORDER =
      (one, two) -> one.isOrderedBefore(two) ? -1 : 1;

  private static final Requirement NOTHING = new Requirement(List.of(), false, false, 0);

  private final ClusterQueueCache queue;
  private final Map<EquivalenceClass, Requirement> requirements = new LinkedHashMap<>();
  private boolean stale = true;
  private long orderVersion;

  /** The first inadmissible class at the last lookup. */
  private @Nullable EquivalenceClass firstClass;

  private Requirement firstRequirement = NOTHING;

  /**
   * The only pair that the first class misses, and its amount; -1 if it misses several pairs, or
   * may fit for other reasons. These are kept beside each other, because all queues of a tree are
   * looked at after a release.
   */
  private int firstPair = -1;

  private long firstAmount;

  /** The usage of each LocalQueue that has classes. */
  private LocalQueueUsage[] usages = {};

  /**
   * The index of the first class of each LocalQueue; the classes of a LocalQueue end where those of
   * the next one begin.
   */
  private int[] firstOf = {0};

  /** The classes: those of a LocalQueue beside each other, in the queue's order. */
  private EquivalenceClass[] classes = {};

  private Requirement[] requirementOf = {};

  /**
   * The index of the first shortage of each class; the shortages of a class end where those of the
   * next class begin.
   */
  private int[] firstShortage = {0};

  private int[] pairs = {};
  private long[] amounts = {};

  /**
   * For each pair and priority, the least missing amount, and the time since which the oldest
   * member is queued.
   */
  private final LeastRequirement leastRequirement = new LeastRequirement();

  private boolean anyCompeting;

  /** {@link QuotaNode#source} by the number of the pair; null where nobody asked for it. */
  private @Nullable QuotaNode[] sources = new QuotaNode[2];

  ClusterQueueInadmissibleIndex(ClusterQueueCache queue) {
    this.queue = queue;
  }

  /** What the classes wait for, as a value; classes without members are left out. */
  WaitingExport.QueueExport export() {
    List<WaitingExport.RequirementExport> exported = new ArrayList<>();
    requirements.forEach(
        (equivalenceClass, requirement) -> {
          QueuedWorkload member = queue.pending().anyOf(equivalenceClass);
          if (member != null) {
            exported.add(
                new WaitingExport.RequirementExport(
                    member.id().uid(),
                    requirement.shortages,
                    requirement.competing,
                    requirement.preempts,
                    requirement.event));
          }
        });
    return new WaitingExport.QueueExport(queue.name(), exported, leastRequirement.export());
  }

  /** Takes over what classes wait for, into an empty index. */
  void restore(WaitingExport.QueueExport exported, ExportedNames names) {
    for (WaitingExport.RequirementExport each : exported.requirements()) {
      QueuedWorkload member = names.queued(each.member());
      if (member != null) {
        anyCompeting |= each.competing();
        requirements.put(
            member.equivalenceClass(),
            new Requirement(each.shortages(), each.competing(), each.preempts(), each.event()));
      }
    }
    leastRequirement.restore(exported.least());
  }

  /** Adds what all classes missed when they were added, whatever has become of them. */
  void addAllTo(LeastMissing leastMissing) {
    requirements.values().forEach(requirement -> leastMissing.add(queue.node(), requirement));
  }

  void add(EquivalenceClass equivalenceClass, Requirement requirement) {
    requirements.put(equivalenceClass, requirement);
    firstClass = null;
    stale = true;
    anyCompeting |= requirement.competing;
    for (EquivalenceClass.Shortage shortage : requirement.shortages) {
      leastRequirement.count(shortage, queue.mayPreempt() ? equivalenceClass : null);
    }
  }

  /**
   * Whether an evaluation of a class would only find again that it doesn't fit, without any effect
   * on others: it misses what it missed before, no preemption could free any of that, and it keeps
   * no quota from others, because the queue reclaims its own from anybody. If so, this is recorded
   * as an evaluation is.
   */
  boolean isInVain(
      EquivalenceClass equivalenceClass,
      ResourceDemand.Fixed request,
      long event,
      PreemptionUpperBound preemptionUpperBound) {
    Requirement requirement = requirementFor(equivalenceClass);
    Explanation explanation = equivalenceClass.explanation();
    if (requirement == NOTHING
        || explanation == null
        || explanation.reason() != PendingReason.WAITING_FOR_QUOTA
        || requirement.competing
        || !requirement.preempts
        || queue.spec().rules().preemptionConfig().isPresent()
        || queue.spec().preemption().reclaimWithinCohort() != ReclaimWithinCohort.ANY) {
      return false;
    }
    int next = 0;
    for (int i = 0; i < request.pairs().length; i++) {
      int pair = request.pairs()[i];
      long amount = request.amounts()[i];
      if (amount <= available(pair)) {
        continue;
      }
      if (next >= requirement.shortages.size()) {
        return false;
      }
      EquivalenceClass.Shortage known = requirement.shortages.get(next++);
      if (known.pair() != pair
          || known.amount() != amount
          || preemptionUpperBound.allows(
              queue,
              pair,
              amount,
              equivalenceClass.priority(),
              equivalenceClass.head().queuedAtMicros())) {
        return false;
      }
    }
    if (next < requirement.shortages.size()) {
      return false;
    }
    requirement.event = event;
    return true;
  }

  /**
   * Whether a class waits for nothing but amounts that it misses, and none of them is available.
   */
  boolean lacksStill(EquivalenceClass equivalenceClass, long event) {
    Requirement requirement = requirements.get(equivalenceClass);
    if (requirement == null
        || requirement.competing
        || requirement.preempts
        || requirement.shortages.isEmpty()) {
      return false;
    }
    if (requirement.event < event) {
      for (EquivalenceClass.Shortage shortage : requirement.shortages) {
        if (shortage.amount() <= available(shortage.pair())) {
          return false;
        }
      }
    }
    return true;
  }

  /** What is available to the queue, see {@link QuotaNode#available}; reads few objects. */
  long available(int pair) {
    QuotaNode source = pair < sources.length ? sources[pair] : null;
    if (source == null) {
      source = queue.node().source(pair);
      if (pair >= sources.length) {
        sources = Arrays.copyOf(sources, pair + 1);
      }
      sources[pair] = source;
    }
    return Math.max(0, source.available(pair));
  }

  /** Adds what the classes miss. */
  void addTo(LeastMissing leastMissing) {
    requirements.forEach(
        (equivalenceClass, requirement) -> {
          if (isStillInadmissible(equivalenceClass)) {
            leastMissing.add(queue.node(), requirement);
          }
        });
  }

  void remove(EquivalenceClass equivalenceClass) {
    if (requirements.remove(equivalenceClass) != null) {
      firstClass = null;
      stale = true;
    }
  }

  /**
   * The first class in the queue's order that may fit and that became inadmissible before the last
   * event; null if there is none.
   *
   * @param except a class that is not inadmissible; null for none
   */
  @Nullable EquivalenceClass firstRequeueable(
      long event, @Nullable EquivalenceClass except, PreemptionUpperBound preemptionUpperBound) {
    if (requirements.isEmpty() || !queue.active()) {
      return null;
    }
    EquivalenceClass first = queue.pending().firstInadmissible();
    if (first != null && first != except && isRequeueable(first, event, preemptionUpperBound)) {
      return first;
    }
    if (!anyCompeting && !leastRequirement.mayFit(this, preemptionUpperBound)) {
      return null;
    }
    if (stale || orderVersion != queue.pending().inadmissibleOrderVersion()) {
      rebuild();
    }
    EquivalenceClass found = null;
    for (int i = 0; i < usages.length; i++) {
      if (found == null || usages[i].compareTo(found.usage()) <= 0) {
        EquivalenceClass next =
            firstRequeueable(firstOf[i], firstOf[i + 1], event, except, preemptionUpperBound);
        found = next != null && (found == null || next.isOrderedBefore(found)) ? next : found;
      }
    }
    return found;
  }

  /**
   * The classes that became inadmissible before the last event, and of which a missing amount is
   * available now.
   */
  List<EquivalenceClass> helped(long event) {
    List<EquivalenceClass> helped = new ArrayList<>();
    requirements.forEach(
        (equivalenceClass, requirement) -> {
          if (requirement.event < event
              && isStillInadmissible(equivalenceClass)
              && requirement.shortages.stream()
                  .anyMatch(shortage -> shortage.amount() <= available(shortage.pair()))) {
            helped.add(equivalenceClass);
          }
        });
    return helped;
  }

  /** The first class of one LocalQueue that may fit; null if there is none. */
  private @Nullable EquivalenceClass firstRequeueable(
      int from,
      int to,
      long event,
      @Nullable EquivalenceClass except,
      PreemptionUpperBound preemptionUpperBound) {
    int pair = -1;
    long free = 0;
    for (int i = from; i < to; i++) {
      if (requirementOf[i].event >= event || classes[i] == except) {
        continue;
      }
      if (requirementOf[i].competing && firstShortage[i] < firstShortage[i + 1]) {
        return classes[i];
      }
      for (int shortage = firstShortage[i]; shortage < firstShortage[i + 1]; shortage++) {
        if (pairs[shortage] != pair) {
          pair = pairs[shortage];
          free = available(pair);
        }
        if (amounts[shortage] <= free
            || (requirementOf[i].preempts && allowsPreemption(i, shortage, preemptionUpperBound))) {
          return classes[i];
        }
      }
    }
    return null;
  }

  /** Whether the first inadmissible class may fit. */
  private boolean isRequeueable(
      EquivalenceClass equivalenceClass, long event, PreemptionUpperBound preemptionUpperBound) {
    if (equivalenceClass != firstClass) {
      firstRequirement = requirementFor(equivalenceClass);
      firstClass = equivalenceClass;
      rememberOnlyShortage(firstRequirement);
    }
    if (firstPair >= 0) {
      return firstRequirement.event < event && firstAmount <= available(firstPair);
    }
    Requirement requirement = firstRequirement;
    if (requirement.event >= event) {
      return false;
    }
    if (requirement.competing) {
      return !requirement.shortages.isEmpty();
    }
    for (int i = 0; i < requirement.shortages.size(); i++) {
      EquivalenceClass.Shortage shortage = requirement.shortages.get(i);
      if (shortage.amount() <= available(shortage.pair())
          || (requirement.preempts
              && preemptionUpperBound.allows(
                  queue,
                  shortage.pair(),
                  shortage.amount(),
                  equivalenceClass.priority(),
                  equivalenceClass.head().queuedAtMicros()))) {
        return true;
      }
    }
    return false;
  }

  /** What a class waits for; {@link #NOTHING} if that isn't known. */
  private Requirement requirementFor(EquivalenceClass equivalenceClass) {
    return equivalenceClass == firstClass
        ? firstRequirement
        : requirements.getOrDefault(equivalenceClass, NOTHING);
  }

  private void rememberOnlyShortage(Requirement requirement) {
    boolean only =
        requirement.shortages.size() == 1 && !requirement.competing && !requirement.preempts;
    firstPair = only ? requirement.shortages.getFirst().pair() : -1;
    firstAmount = only ? requirement.shortages.getFirst().amount() : 0;
  }

  private boolean allowsPreemption(
      int index, int shortage, PreemptionUpperBound preemptionUpperBound) {
    return preemptionUpperBound.allows(
        queue,
        pairs[shortage],
        amounts[shortage],
        classes[index].priority(),
        classes[index].head().queuedAtMicros());
  }

  /**
   * Whether the class is inadmissible, or its oldest member may be the head that blocks a
   * StrictFIFO queue.
   */
  private boolean isStillInadmissible(EquivalenceClass equivalenceClass) {
    return equivalenceClass.size() > 0
        && (equivalenceClass.explanation() != null || queue.queueing().headBlocks());
  }

  private void rebuild() {
    stale = false;
    orderVersion = queue.pending().inadmissibleOrderVersion();
    if (requirements.keySet().removeIf(each -> !isStillInadmissible(each))) {
      firstClass = null;
    }
    sort();
    int size = classes.length;
    requirementOf = new Requirement[size];
    firstShortage = new int[size + 1];
    int count = 0;
    anyCompeting = false;
    leastRequirement.clear();
    for (int i = 0; i < size; i++) {
      Requirement requirement = requirements.getOrDefault(classes[i], NOTHING);
      requirementOf[i] = requirement;
      anyCompeting |= requirement.competing;
      if (count + requirement.shortages.size() > pairs.length) {
        pairs = Arrays.copyOf(pairs, 2 * (count + requirement.shortages.size()));
        amounts = Arrays.copyOf(amounts, pairs.length);
      }
      for (EquivalenceClass.Shortage shortage : requirement.shortages) {
        pairs[count] = shortage.pair();
        amounts[count++] = shortage.amount();
        leastRequirement.count(shortage, queue.mayPreempt() ? classes[i] : null);
      }
      firstShortage[i + 1] = count;
    }
  }

  private void sort() {
    EquivalenceClass[] all = requirements.keySet().toArray(new EquivalenceClass[0]);
    for (EquivalenceClass equivalenceClass : all) {
      if (equivalenceClass.usage() != all[0].usage()) {
        sortByLocalQueue();
        return;
      }
    }
    Arrays.sort(all, BY_ORDER);
    usages = all.length == 0 ? new LocalQueueUsage[0] : new LocalQueueUsage[] {all[0].usage()};
    firstOf = all.length == 0 ? new int[] {0} : new int[] {0, all.length};
    classes = all;
  }

  private void sortByLocalQueue() {
    Map<LocalQueueUsage, List<EquivalenceClass>> byUsage = new LinkedHashMap<>();
    for (EquivalenceClass equivalenceClass : requirements.keySet()) {
      byUsage
          .computeIfAbsent(equivalenceClass.usage(), usage -> new ArrayList<>())
          .add(equivalenceClass);
    }
    usages = byUsage.keySet().toArray(new LocalQueueUsage[0]);
    firstOf = new int[usages.length + 1];
    List<EquivalenceClass> sorted = new ArrayList<>(requirements.size());
    for (int i = 0; i < usages.length; i++) {
      List<EquivalenceClass> ofOne = byUsage.getOrDefault(usages[i], List.of());
      ofOne.sort(BY_ORDER);
      sorted.addAll(ofOne);
      firstOf[i + 1] = sorted.size();
    }
    classes = sorted.toArray(new EquivalenceClass[0]);
  }

  /** The least missing amounts by pair and priority. */
  private static final class LeastRequirement {
    private int size;
    private int[] pairs = {};
    private long[] amounts = {};
    private long[] priorities = {};
    private long[] oldest = {};

    /** The pair of all amounts; -1 if there are several pairs, or no amounts. */
    private int onlyPair = -1;

    /** The least amount, the highest priority and the longest wait of all. */
    private long bestAmount;

    private long bestPriority;
    private long bestSince;

    List<WaitingExport.LeastExport> export() {
      List<WaitingExport.LeastExport> exported = new ArrayList<>(size);
      for (int i = 0; i < size; i++) {
        exported.add(new WaitingExport.LeastExport(pairs[i], amounts[i], priorities[i], oldest[i]));
      }
      return exported;
    }

    void restore(List<WaitingExport.LeastExport> exported) {
      exported.forEach(each -> count(each.pair(), each.amount(), each.priority(), each.since()));
    }

    void clear() {
      size = 0;
      onlyPair = -1;
    }

    /**
     * @param of the class that misses the amount; null if priorities don't matter
     */
    void count(EquivalenceClass.Shortage shortage, @Nullable EquivalenceClass of) {
      long priority = of == null ? 0 : of.priority();
      long since = of == null ? 0 : of.head().queuedAtMicros();
      count(shortage.pair(), shortage.amount(), priority, since);
    }

    private void count(int pair, long amount, long priority, long since) {
      countBest(pair, amount, priority, since);
      int at = 0;
      while (at < size && (pairs[at] != pair || priorities[at] != priority)) {
        at++;
      }
      if (at < size) {
        amounts[at] = Math.min(amounts[at], amount);
        oldest[at] = Math.min(oldest[at], since);
        return;
      }
      if (size == pairs.length) {
        int newSize = Math.max(2, 2 * size);
        pairs = Arrays.copyOf(pairs, newSize);
        amounts = Arrays.copyOf(amounts, newSize);
        priorities = Arrays.copyOf(priorities, newSize);
        oldest = Arrays.copyOf(oldest, newSize);
      }
      pairs[size] = pair;
      amounts[size] = amount;
      priorities[size] = priority;
      oldest[size++] = since;
    }

    /**
     * False if none of the amounts is available, and none is allowed. As a rule all are of one
     * pair: then the least of them with the highest priority and the longest wait is asked about
     * first, because a bound that doesn't allow that allows none of them.
     */
    boolean mayFit(ClusterQueueInadmissibleIndex index, PreemptionUpperBound preemptionUpperBound) {
      ClusterQueueCache queue = index.queue;
      if (onlyPair >= 0
          && bestAmount > index.available(onlyPair)
          && !(queue.mayPreempt()
              && preemptionUpperBound.allows(
                  queue, onlyPair, bestAmount, bestPriority, bestSince))) {
        return false;
      }
      return mayAnyFit(index, preemptionUpperBound);
    }

    private void countBest(int pair, long amount, long priority, long since) {
      onlyPair = size == 0 || onlyPair == pair ? pair : -1;
      bestAmount = size == 0 ? amount : Math.min(bestAmount, amount);
      bestPriority = size == 0 ? priority : Math.max(bestPriority, priority);
      bestSince = size == 0 ? since : Math.min(bestSince, since);
    }

    private boolean mayAnyFit(
        ClusterQueueInadmissibleIndex index, PreemptionUpperBound preemptionUpperBound) {
      ClusterQueueCache queue = index.queue;
      for (int i = 0; i < size; i++) {
        if (amounts[i] <= index.available(pairs[i])
            || (queue.mayPreempt()
                && preemptionUpperBound.allows(
                    queue, pairs[i], amounts[i], priorities[i], oldest[i]))) {
          return true;
        }
      }
      return false;
    }
  }
}
