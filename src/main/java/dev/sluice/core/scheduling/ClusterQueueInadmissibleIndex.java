package dev.sluice.core.scheduling;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.scheduling.preemption.PreemptionUpperBound;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Classes of one queue that wait for quota. They are kept in the queue's order, with what they lack
 * beside each other in memory, and what the least demanding of them lack is kept aside: one look
 * tells whether any of them may be helped, and few more who is the first.
 */
final class ClusterQueueInadmissibleIndex {

  /**
   * What a class waits for.
   *
   * @param competing whether whatever is released may help
   * @param preempts whether it also waits for others whom it may preempt
   * @param event what had happened in the tree by then
   */
  record Requirement(
      List<EquivalenceClass.Lack> lacks, boolean competing, boolean preempts, long event) {}

  private static final Requirement NOTHING = new Requirement(List.of(), false, false, 0);

  private final ClusterQueueCache queue;
  private final Map<EquivalenceClass, Requirement> sleepers = new LinkedHashMap<>();
  private boolean stale = true;
  private long order;

  /** Whoever came first when it was looked up last. */
  private @Nullable EquivalenceClass top;

  private Requirement topSleep = NOTHING;

  /** In the queue's order. */
  private EquivalenceClass[] classes = {};

  private Requirement[] sleeps = {};
  private long[] events = {};

  /** What each lacks: from its first entry to that of the next one. */
  private int[] firstLack = {0};

  private int[] pairs = {};
  private long[] amounts = {};

  /** For each pair and priority, the least that anybody lacks, and since when the eldest waits. */
  private final LeastRequirement leastRequirement = new LeastRequirement();

  private boolean anyCompetes;

  ClusterQueueInadmissibleIndex(ClusterQueueCache queue) {
    this.queue = queue;
  }

  void add(EquivalenceClass equivalenceClass, Requirement requirement) {
    sleepers.put(equivalenceClass, requirement);
    top = null;
    stale = true;
    anyCompetes |= requirement.competing;
    for (EquivalenceClass.Lack lack : requirement.lacks) {
      leastRequirement.count(lack, queue.mayPreempt() ? equivalenceClass : null);
    }
  }

  void remove(EquivalenceClass equivalenceClass) {
    if (sleepers.remove(equivalenceClass) != null) {
      top = null;
      stale = true;
    }
  }

  /**
   * The first in the queue's order of those who can be helped, and slept already when the last
   * event happened; null if there is none.
   */
  @Nullable EquivalenceClass firstRequeueable(
      long event, PreemptionUpperBound preemptionUpperBound) {
    if (sleepers.isEmpty() || !queue.active()) {
      return null;
    }
    EquivalenceClass first = queue.pending().firstInadmissible();
    if (first != null && isRequeueable(first, event, preemptionUpperBound)) {
      return first;
    }
    if (!anyCompetes && !leastRequirement.mayHelp(queue, preemptionUpperBound)) {
      return null;
    }
    if (stale || order != queue.pending().inadmissibleInOrder()) {
      rebuild();
    }
    int pair = -1;
    long free = 0;
    for (int i = 0; i < classes.length; i++) {
      if (events[i] >= event) {
        continue;
      }
      if (sleeps[i].competing && firstLack[i] < firstLack[i + 1]) {
        return classes[i];
      }
      for (int lack = firstLack[i]; lack < firstLack[i + 1]; lack++) {
        if (pairs[lack] != pair) {
          pair = pairs[lack];
          free = queue.node().available(pair);
        }
        if (amounts[lack] <= free
            || (sleeps[i].preempts && allowsPreemption(i, lack, preemptionUpperBound))) {
          return classes[i];
        }
      }
    }
    return null;
  }

  /** Whether the class that comes first can be helped. */
  private boolean isRequeueable(
      EquivalenceClass equivalenceClass, long event, PreemptionUpperBound preemptionUpperBound) {
    if (equivalenceClass != top) {
      top = equivalenceClass;
      topSleep = sleepers.getOrDefault(equivalenceClass, NOTHING);
    }
    Requirement requirement = topSleep;
    if (requirement.event >= event) {
      return false;
    }
    if (requirement.competing) {
      return !requirement.lacks.isEmpty();
    }
    for (int i = 0; i < requirement.lacks.size(); i++) {
      EquivalenceClass.Lack lack = requirement.lacks.get(i);
      if (lack.amount() <= queue.node().available(lack.pair())
          || (requirement.preempts
              && preemptionUpperBound.allows(
                  queue,
                  lack.pair(),
                  lack.amount(),
                  equivalenceClass.priority(),
                  equivalenceClass.head().queuedAtMicros()))) {
        return true;
      }
    }
    return false;
  }

  private boolean allowsPreemption(int index, int lack, PreemptionUpperBound preemptionUpperBound) {
    return preemptionUpperBound.allows(
        queue,
        pairs[lack],
        amounts[lack],
        classes[index].priority(),
        classes[index].head().queuedAtMicros());
  }

  /** It is parked, or its eldest may be the head that blocks a StrictFIFO queue. */
  private boolean sleeps(EquivalenceClass equivalenceClass) {
    return equivalenceClass.size() > 0 && (equivalenceClass.explanation() != null || queue.isStrict());
  }

  private void rebuild() {
    stale = false;
    order = queue.pending().inadmissibleInOrder();
    sleepers.keySet().removeIf(equivalenceClass -> !sleeps(equivalenceClass));
    List<EquivalenceClass> inOrder = new ArrayList<>(sleepers.keySet());
    inOrder.sort((one, two) -> one.isOrderedBefore(two) ? -1 : 1);
    int size = inOrder.size();
    classes = inOrder.toArray(new EquivalenceClass[0]);
    sleeps = new Requirement[size];
    events = new long[size];
    firstLack = new int[size + 1];
    int count = 0;
    anyCompetes = false;
    leastRequirement.clear();
    for (int i = 0; i < size; i++) {
      Requirement requirement = sleepers.getOrDefault(classes[i], NOTHING);
      sleeps[i] = requirement;
      events[i] = requirement.event;
      anyCompetes |= requirement.competing;
      if (count + requirement.lacks.size() > pairs.length) {
        pairs = Arrays.copyOf(pairs, 2 * (count + requirement.lacks.size()));
        amounts = Arrays.copyOf(amounts, pairs.length);
      }
      for (EquivalenceClass.Lack lack : requirement.lacks) {
        pairs[count] = lack.pair();
        amounts[count++] = lack.amount();
        leastRequirement.count(lack, queue.mayPreempt() ? classes[i] : null);
      }
      firstLack[i + 1] = count;
    }
  }

  /** The least amounts by pair and priority. */
  private static final class LeastRequirement {
    private int size;
    private int[] pairs = {};
    private long[] amounts = {};
    private long[] priorities = {};
    private long[] eldest = {};

    void clear() {
      size = 0;
    }

    /**
     * @param of who lacks it; null if priorities don't count
     */
    void count(EquivalenceClass.Lack lack, @Nullable EquivalenceClass of) {
      long priority = of == null ? 0 : of.priority();
      long since = of == null ? 0 : of.head().queuedAtMicros();
      int at = 0;
      while (at < size && (pairs[at] != lack.pair() || priorities[at] != priority)) {
        at++;
      }
      if (at < size) {
        amounts[at] = Math.min(amounts[at], lack.amount());
        eldest[at] = Math.min(eldest[at], since);
        return;
      }
      if (size == pairs.length) {
        int more = Math.max(2, 2 * size);
        pairs = Arrays.copyOf(pairs, more);
        amounts = Arrays.copyOf(amounts, more);
        priorities = Arrays.copyOf(priorities, more);
        eldest = Arrays.copyOf(eldest, more);
      }
      pairs[size] = lack.pair();
      amounts[size] = lack.amount();
      priorities[size] = priority;
      eldest[size++] = since;
    }

    boolean mayHelp(ClusterQueueCache queue, PreemptionUpperBound preemptionUpperBound) {
      for (int i = 0; i < size; i++) {
        if (amounts[i] <= queue.node().available(pairs[i])
            || (queue.mayPreempt()
                && preemptionUpperBound.allows(
                    queue, pairs[i], amounts[i], priorities[i], eldest[i]))) {
          return true;
        }
      }
      return false;
    }
  }
}
