package dev.sluice.core.queue;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.quota.AnyHolder;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.quota.UsageVector;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.NoSuchElementException;
import java.util.PriorityQueue;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The holders of one queue's quota, in the order of preemption. Holders that nobody can evict, and
 * guaranteed ones, are kept apart, and are no candidates. Confined to the scheduler thread.
 */
public final class QuotaHolders {

  private final LocalQueueUsage sharedUsage = new LocalQueueUsage();
  private final Map<LocalQueueUsage, NavigableSet<QuotaHolder>> evicted = new HashMap<>(2);
  private final Map<LocalQueueUsage, NavigableSet<QuotaHolder>> notEvicted = new HashMap<>(2);
  private final UsageByPriority byPriority = new UsageByPriority();
  private final NavigableSet<QuotaHolder> notEvictable =
      new TreeSet<>(QuotaHolder.PREEMPTION_ORDER);
  private @Nullable Function<LocalQueueId, LocalQueueUsage> usageOf;
  private boolean countsGuaranteed;
  private int size;

  /** How many of the holders saved their work since they got their quota. */
  private int savingWork;

  private @Nullable QuotaNode node;

  /** The least positive amount by pair of all candidates; null after a change of the holders. */
  private long @Nullable [] least;

  /** What {@link #firstOfOnlyGroup} returned last; null after a change. */
  private @Nullable QuotaHolder firstEvicted;

  private @Nullable QuotaHolder firstNotEvicted;

  /** Sets the node of the queue, which is told when holders come or go. */
  void node(QuotaNode ofQueue) {
    node = ofQueue;
    changed();
  }

  private void changed() {
    least = null;
    firstEvicted = null;
    firstNotEvicted = null;
    QuotaNode told = node;
    if (told != null) {
      told.reservationsChanged();
      told.holds(
          notEvictable.isEmpty() && savingWork == 0
              ? AnyHolder.NONE
              : new AnyHolder(!notEvictable.isEmpty(), savingWork > 0));
    }
  }

  /** Adds a holder. */
  public void add(QuotaHolder quotaHolder) {
    if (!isCandidate(quotaHolder)) {
      if (notEvictable.add(quotaHolder)) {
        count(quotaHolder, 1);
      }
      return;
    }
    NavigableSet<QuotaHolder> group =
        of(quotaHolder.evicted())
            .computeIfAbsent(
                usage(quotaHolder), usage -> new TreeSet<>(QuotaHolder.PREEMPTION_ORDER));
    if (group.add(quotaHolder)) {
      count(quotaHolder, 1);
      byPriority.add(quotaHolder);
    }
  }

  private void count(QuotaHolder quotaHolder, int one) {
    size += one;
    savingWork += quotaHolder.savesWork() ? one : 0;
    changed();
  }

  /** Removes a holder. */
  public void remove(QuotaHolder quotaHolder) {
    if (!isCandidate(quotaHolder)) {
      if (notEvictable.remove(quotaHolder)) {
        count(quotaHolder, -1);
      }
      return;
    }
    LocalQueueUsage usage = usage(quotaHolder);
    NavigableSet<QuotaHolder> group = of(quotaHolder.evicted()).get(usage);
    if (group != null && group.remove(quotaHolder)) {
      count(quotaHolder, -1);
      byPriority.remove(quotaHolder);
      if (group.isEmpty()) {
        of(quotaHolder.evicted()).remove(usage);
      }
    }
  }

  /**
   * The first candidate in the order of preemption that is being evicted, or that is not; null if
   * there is none, or if the candidates are grouped by the usage of several LocalQueues.
   */
  public @Nullable QuotaHolder firstOfOnlyGroup(boolean ofEvicted) {
    QuotaHolder known = ofEvicted ? firstEvicted : firstNotEvicted;
    Map<LocalQueueUsage, NavigableSet<QuotaHolder>> sets = of(ofEvicted);
    if (known == null && sets.size() == 1) {
      known = sets.values().iterator().next().first();
      if (ofEvicted) {
        firstEvicted = known;
      } else {
        firstNotEvicted = known;
      }
    }
    return sets.size() == 1 ? known : null;
  }

  /** The amount of a pair that candidates of a lower priority reserve. */
  public long amountBelow(long priority, int pair) {
    return byPriority.below(priority, pair);
  }

  /**
   * The amount of a pair that candidates of this priority reserve, if any of them was queued after
   * this time; otherwise 0.
   */
  public long amountOfNewerEquals(long priority, int pair, long queuedAtMicros) {
    return byPriority.newerEquals(priority, pair, queuedAtMicros, this::forEachCandidate);
  }

  /** The least positive amount of a pair that a candidate reserves; 0 if none reserves it. */
  public long leastAmount(int pair) {
    long[] known = least;
    if (known == null) {
      known = leastAmounts();
      least = known;
    }
    return pair < known.length ? known[pair] : 0;
  }

  private long[] leastAmounts() {
    LeastAmounts amounts = new LeastAmounts();
    for (NavigableSet<QuotaHolder> group : evicted.values()) {
      group.forEach(amounts::add);
    }
    for (NavigableSet<QuotaHolder> group : notEvicted.values()) {
      group.forEach(amounts::add);
    }
    return amounts.byPair;
  }

  private static final class LeastAmounts {
    private long[] byPair = {};

    void add(QuotaHolder quotaHolder) {
      for (int i = 0; i < quotaHolder.size(); i++) {
        int pair = quotaHolder.pair(i);
        long amount = quotaHolder.amount(i);
        if (pair >= byPair.length) {
          byPair = Arrays.copyOf(byPair, pair + 1);
        }
        if (amount > 0 && (byPair[pair] == 0 || amount < byPair[pair])) {
          byPair[pair] = amount;
        }
      }
    }
  }

  /** Whether a holder that nobody can evict reserves an amount of one of these pairs. */
  public boolean anyNotEvictableUses(int[] wanted) {
    for (QuotaHolder quotaHolder : notEvictable) {
      if (quotaHolder.usesAny(wanted)) {
        return true;
      }
    }
    return false;
  }

  /** The lowest priority of all candidates; {@link Long#MAX_VALUE} if there are none. */
  public long lowestPriority() {
    return byPriority.lowest();
  }

  /** Calls {@code action} with each holder: candidates in the order of preemption, then others. */
  public void forEach(Consumer<QuotaHolder> action) {
    forEachCandidate(action);
    notEvictable.forEach(action);
  }

  private void forEachCandidate(Consumer<QuotaHolder> action) {
    groups(true).forEachRemaining(group -> group.forEachRemaining(action));
    groups(false).forEachRemaining(group -> group.forEachRemaining(action));
  }

  /** Whether there is no candidate that is being evicted, or none that is not. */
  public boolean isEmpty(boolean ofEvicted) {
    return of(ofEvicted).isEmpty();
  }

  /** Number of holders. */
  public int size() {
    return size;
  }

  /**
   * Sets whether holders of LocalQueues with more usage come first
   * (docs/scheduling-semantics.md#classical-preemption).
   *
   * @param of the usage of a LocalQueue, always the same object for the same LocalQueue; null: not
   *     ordered by usage
   */
  public void orderByUsage(@Nullable Function<LocalQueueId, LocalQueueUsage> of) {
    boolean changes = (of == null) != (usageOf == null);
    if (!changes) {
      usageOf = of;
      return;
    }
    readd(() -> usageOf = of);
  }

  private void readd(Runnable change) {
    List<QuotaHolder> all = new ArrayList<>(size);
    forEach(all::add);
    evicted.clear();
    notEvicted.clear();
    notEvictable.clear();
    size = 0;
    savingWork = 0;
    changed();
    byPriority.clear();
    change.run();
    all.forEach(this::add);
  }

  /** Sets whether holders that are marked as not preemptible are guaranteed: no candidates. */
  public void countGuaranteed(boolean counts) {
    if (counts != countsGuaranteed) {
      readd(() -> countsGuaranteed = counts);
    }
  }

  /** Whether a holder is guaranteed here. */
  public boolean isGuaranteed(QuotaHolder quotaHolder) {
    return countsGuaranteed && quotaHolder.guaranteed();
  }

  private boolean isCandidate(QuotaHolder quotaHolder) {
    return quotaHolder.evictable() && !isGuaranteed(quotaHolder);
  }

  /**
   * The candidates that are being evicted, or those that are not, in groups of LocalQueues with
   * equal usage; the groups and the holders of each group are in the order of preemption.
   */
  public Iterator<Iterator<QuotaHolder>> groups(boolean ofEvicted) {
    Map<LocalQueueUsage, NavigableSet<QuotaHolder>> sets = of(ofEvicted);
    if (sets.size() == 1) {
      return List.of(sets.values().iterator().next().iterator()).iterator();
    }
    List<LocalQueueUsage> order = new ArrayList<>(sets.keySet());
    order.sort(Comparator.reverseOrder());
    List<Iterator<QuotaHolder>> groups = new ArrayList<>();
    for (int from = 0; from < order.size(); ) {
      int to = from + 1;
      while (to < order.size() && order.get(to).compareTo(order.get(from)) == 0) {
        to++;
      }
      MergedIterator mergedIterator = new MergedIterator();
      order.subList(from, to).forEach(usage -> mergedIterator.add(sets.get(usage)));
      groups.add(mergedIterator);
      from = to;
    }
    return groups.iterator();
  }

  private LocalQueueUsage usage(QuotaHolder quotaHolder) {
    return usageOf == null ? sharedUsage : usageOf.apply(quotaHolder.localQueue());
  }

  private Map<LocalQueueUsage, NavigableSet<QuotaHolder>> of(boolean ofEvicted) {
    return ofEvicted ? evicted : notEvicted;
  }

  /** Several sorted sets, merged lazily. */
  private static final class MergedIterator implements Iterator<QuotaHolder> {

    private record Part(QuotaHolder first, Iterator<QuotaHolder> rest) {}

    private final PriorityQueue<Part> parts =
        new PriorityQueue<>(Comparator.comparing(Part::first, QuotaHolder.PREEMPTION_ORDER));

    void add(@Nullable NavigableSet<QuotaHolder> set) {
      if (set != null) {
        add(set.iterator());
      }
    }

    private void add(Iterator<QuotaHolder> quotaHolders) {
      if (quotaHolders.hasNext()) {
        parts.add(new Part(quotaHolders.next(), quotaHolders));
      }
    }

    @Override
    public boolean hasNext() {
      return !parts.isEmpty();
    }

    @Override
    public QuotaHolder next() {
      Part part = parts.poll();
      if (part == null) {
        throw new NoSuchElementException("no more holders");
      }
      add(part.rest);
      return part.first;
    }
  }

  /**
   * Reserved amounts of the candidates of one queue by priority, so that an upper bound on
   * preemption needs no iteration over all holders. There are few priorities. Confined to the
   * scheduler thread.
   */
  private static final class UsageByPriority {

    /** The holders of one priority. */
    private static final class Level {
      private final long priority;
      private final UsageVector amounts = new UsageVector();
      private int holders;
      private long newestMicros = Long.MIN_VALUE;
      private boolean newestLeft;

      Level(long priority) {
        this.priority = priority;
      }
    }

    /** Levels in order of increasing priority. */
    private final List<Level> levels = new ArrayList<>(2);

    private long lowest = Long.MAX_VALUE;

    void add(QuotaHolder quotaHolder) {
      Level level = levelOf(quotaHolder.priority());
      level.holders++;
      for (int i = 0; i < quotaHolder.size(); i++) {
        level.amounts.add(quotaHolder.pair(i), quotaHolder.amount(i));
      }
      if (!level.newestLeft) {
        level.newestMicros = Math.max(level.newestMicros, quotaHolder.queuedAtMicros());
      }
    }

    void remove(QuotaHolder quotaHolder) {
      Level level = find(quotaHolder.priority());
      if (level == null) {
        return;
      }
      if (--level.holders == 0) {
        levels.remove(level);
        lowest = levels.isEmpty() ? Long.MAX_VALUE : levels.getFirst().priority;
        return;
      }
      for (int i = 0; i < quotaHolder.size(); i++) {
        level.amounts.subtract(quotaHolder.pair(i), quotaHolder.amount(i));
      }
      level.newestLeft |= quotaHolder.queuedAtMicros() >= level.newestMicros;
    }

    private Level levelOf(long priority) {
      int at = 0;
      while (at < levels.size() && levels.get(at).priority < priority) {
        at++;
      }
      if (at == levels.size() || levels.get(at).priority != priority) {
        levels.add(at, new Level(priority));
        lowest = levels.getFirst().priority;
      }
      return levels.get(at);
    }

    private @Nullable Level find(long priority) {
      for (int i = 0; i < levels.size(); i++) {
        if (levels.get(i).priority == priority) {
          return levels.get(i);
        }
      }
      return null;
    }

    /** The amount of a pair that holders of a lower priority reserve. */
    long below(long priority, int pair) {
      long sum = 0;
      if (lowest < priority) {
        for (int i = 0; i < levels.size() && levels.get(i).priority < priority; i++) {
          sum = ResourceAmounts.add(sum, levels.get(i).amounts.get(pair));
        }
      }
      return sum;
    }

    /**
     * The amount of a pair that holders of a priority reserve, if one of them was queued after a
     * time; otherwise 0.
     *
     * @param forEachHolder calls its argument with each holder of the queue
     */
    long newerEquals(
        long priority,
        int pair,
        long queuedAtMicros,
        Consumer<Consumer<QuotaHolder>> forEachHolder) {
      Level level = find(priority);
      if (level == null) {
        return 0;
      }
      if (level.newestLeft) {
        level.newestMicros = Long.MIN_VALUE;
        level.newestLeft = false;
        forEachHolder.accept(
            quotaHolder -> {
              if (quotaHolder.evictable() && quotaHolder.priority() == priority) {
                level.newestMicros = Math.max(level.newestMicros, quotaHolder.queuedAtMicros());
              }
            });
      }
      return level.newestMicros > queuedAtMicros ? level.amounts.get(pair) : 0;
    }

    void clear() {
      levels.clear();
      lowest = Long.MAX_VALUE;
    }

    /** The lowest priority of all holders; {@link Long#MAX_VALUE} if there are none. */
    long lowest() {
      return lowest;
    }
  }
}
