package dev.sluice.core.queue;

import dev.sluice.core.model.LocalQueueId;
import java.util.ArrayList;
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
 * Those who hold quota of one queue, in the order in which they would be preempted. Confined to the
 * engine's thread.
 */
public final class QuotaHolders {

  private final LocalQueueUsage everybody = new LocalQueueUsage();
  private final Map<LocalQueueUsage, NavigableSet<QuotaHolder>> evicted = new HashMap<>(2);
  private final Map<LocalQueueUsage, NavigableSet<QuotaHolder>> staying = new HashMap<>(2);
  private final UsageByPriority byPriority = new UsageByPriority();
  private @Nullable Function<LocalQueueId, LocalQueueUsage> uses;
  private int size;

  /** Adds one. */
  public void add(QuotaHolder quotaHolder) {
    NavigableSet<QuotaHolder> beside =
        of(quotaHolder.evicted())
            .computeIfAbsent(use(quotaHolder), use -> new TreeSet<>(QuotaHolder.VICTIM_ORDER));
    if (beside.add(quotaHolder)) {
      size++;
      byPriority.add(quotaHolder);
    }
  }

  /** Takes one out. */
  public void remove(QuotaHolder quotaHolder) {
    LocalQueueUsage use = use(quotaHolder);
    NavigableSet<QuotaHolder> beside = of(quotaHolder.evicted()).get(use);
    if (beside != null && beside.remove(quotaHolder)) {
      size--;
      byPriority.remove(quotaHolder);
      if (beside.isEmpty()) {
        of(quotaHolder.evicted()).remove(use);
      }
    }
  }

  /** How much of a pair is held by those of a lower priority. */
  public long heldBelow(long priority, int pair) {
    return byPriority.below(priority, pair);
  }

  /**
   * How much of a pair is held by those of this priority if any of them queued after this instant;
   * 0 if none did.
   */
  public long heldByNewerEquals(long priority, int pair, long queuedAtMicros) {
    return byPriority.newerEquals(priority, pair, queuedAtMicros, this::forEach);
  }

  /** The lowest priority of any of them; {@link Long#MAX_VALUE} if there are none. */
  public long lowestPriority() {
    return byPriority.lowest();
  }

  /** Each of them, first victim first. */
  public void forEach(Consumer<QuotaHolder> action) {
    groups(true).forEachRemaining(group -> group.forEachRemaining(action));
    groups(false).forEachRemaining(group -> group.forEachRemaining(action));
  }

  /** Whether none is being evicted, or whether all are. */
  public boolean isEmpty(boolean ofEvicted) {
    return of(ofEvicted).isEmpty();
  }

  /** How many there are. */
  public int size() {
    return size;
  }

  /**
   * Sets whether those go first whose LocalQueue used more
   * (docs/scheduling-semantics.md#classical-preemption).
   *
   * @param of what a LocalQueue used, always the same object for the same one; null: use doesn't
   *     count
   */
  public void byUse(@Nullable Function<LocalQueueId, LocalQueueUsage> of) {
    boolean changes = (of == null) != (uses == null);
    if (!changes) {
      uses = of;
      return;
    }
    List<QuotaHolder> all = new ArrayList<>(size);
    forEach(all::add);
    evicted.clear();
    staying.clear();
    size = 0;
    uses = of;
    byPriority.clear();
    all.forEach(this::add);
  }

  /**
   * Those that are being evicted, or those that are not, first victim first: in groups whose
   * LocalQueues used equally much, and each group in the order of victims.
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
      order.subList(from, to).forEach(use -> mergedIterator.enter(sets.get(use)));
      groups.add(mergedIterator);
      from = to;
    }
    return groups.iterator();
  }

  private LocalQueueUsage use(QuotaHolder quotaHolder) {
    return uses == null ? everybody : uses.apply(quotaHolder.localQueue());
  }

  private Map<LocalQueueUsage, NavigableSet<QuotaHolder>> of(boolean ofEvicted) {
    return ofEvicted ? evicted : staying;
  }

  /** Several sets in one order, merged as far as somebody asks. */
  private static final class MergedIterator implements Iterator<QuotaHolder> {

    private record Part(QuotaHolder first, Iterator<QuotaHolder> rest) {}

    private final PriorityQueue<Part> parts =
        new PriorityQueue<>(Comparator.comparing(Part::first, QuotaHolder.VICTIM_ORDER));

    void enter(@Nullable NavigableSet<QuotaHolder> set) {
      if (set != null) {
        enter(set.iterator());
      }
    }

    private void enter(Iterator<QuotaHolder> quotaHolders) {
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
      enter(part.rest);
      return part.first;
    }
  }
}
