package dev.sluice.queue;

import dev.sluice.model.LocalQueueId;
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
public final class Holders {

  private final LocalUse everybody = new LocalUse();
  private final Map<LocalUse, NavigableSet<Holder>> evicted = new HashMap<>(2);
  private final Map<LocalUse, NavigableSet<Holder>> staying = new HashMap<>(2);
  private final HeldByPriority byPriority = new HeldByPriority();
  private @Nullable Function<LocalQueueId, LocalUse> uses;
  private int size;

  /** Adds one. */
  public void add(Holder holder) {
    NavigableSet<Holder> beside =
        of(holder.evicted())
            .computeIfAbsent(use(holder), use -> new TreeSet<>(Holder.VICTIM_ORDER));
    if (beside.add(holder)) {
      size++;
      byPriority.add(holder);
    }
  }

  /** Takes one out. */
  public void remove(Holder holder) {
    LocalUse use = use(holder);
    NavigableSet<Holder> beside = of(holder.evicted()).get(use);
    if (beside != null && beside.remove(holder)) {
      size--;
      byPriority.remove(holder);
      if (beside.isEmpty()) {
        of(holder.evicted()).remove(use);
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
  public void forEach(Consumer<Holder> action) {
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
   * Sets whether those go first whose LocalQueue used more (scheduling semantics, section 7).
   *
   * @param of what a LocalQueue used, always the same object for the same one; null: use doesn't
   *     count
   */
  public void byUse(@Nullable Function<LocalQueueId, LocalUse> of) {
    boolean changes = (of == null) != (uses == null);
    if (!changes) {
      uses = of;
      return;
    }
    List<Holder> all = new ArrayList<>(size);
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
  public Iterator<Iterator<Holder>> groups(boolean ofEvicted) {
    Map<LocalUse, NavigableSet<Holder>> sets = of(ofEvicted);
    if (sets.size() == 1) {
      return List.of(sets.values().iterator().next().iterator()).iterator();
    }
    List<LocalUse> order = new ArrayList<>(sets.keySet());
    order.sort(Comparator.reverseOrder());
    List<Iterator<Holder>> groups = new ArrayList<>();
    for (int from = 0; from < order.size(); ) {
      int to = from + 1;
      while (to < order.size() && order.get(to).compareTo(order.get(from)) == 0) {
        to++;
      }
      Merged merged = new Merged();
      order.subList(from, to).forEach(use -> merged.enter(sets.get(use)));
      groups.add(merged);
      from = to;
    }
    return groups.iterator();
  }

  private LocalUse use(Holder holder) {
    return uses == null ? everybody : uses.apply(holder.localQueue());
  }

  private Map<LocalUse, NavigableSet<Holder>> of(boolean ofEvicted) {
    return ofEvicted ? evicted : staying;
  }

  /** Several sets in one order, merged as far as somebody asks. */
  private static final class Merged implements Iterator<Holder> {

    private record Part(Holder first, Iterator<Holder> rest) {}

    private final PriorityQueue<Part> parts =
        new PriorityQueue<>(Comparator.comparing(Part::first, Holder.VICTIM_ORDER));

    void enter(@Nullable NavigableSet<Holder> set) {
      if (set != null) {
        enter(set.iterator());
      }
    }

    private void enter(Iterator<Holder> holders) {
      if (holders.hasNext()) {
        parts.add(new Part(holders.next(), holders));
      }
    }

    @Override
    public boolean hasNext() {
      return !parts.isEmpty();
    }

    @Override
    public Holder next() {
      Part part = parts.poll();
      if (part == null) {
        throw new NoSuchElementException("no more holders");
      }
      enter(part.rest);
      return part.first;
    }
  }
}
