package dev.sluice.core.queue;

import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A binary heap whose entries store their index, so that any entry can be removed or moved in
 * logarithmic time. Confined to one thread.
 */
final class IndexedHeap<T extends IndexedHeap.Entry> {

  /** An entry, which stores its index in the heap. An entry is in one heap at a time. */
  abstract static class Entry {
    private int place = -1;

    /** Whether the entry is in a heap. */
    final boolean inHeap() {
      return place >= 0;
    }
  }

  private final Comparator<T> order;

  /** The entries; null from {@link #size} on. */
  @SuppressWarnings("unchecked") // nothing but entries gets into it
  private @Nullable T[] entries = (T[]) new Entry[2];

  private int size;

  /** The least entry, beside the size, since all queues of a tree are asked for it. */
  private @Nullable T first;

  IndexedHeap(Comparator<T> order) {
    this.order = order;
  }

  int size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** The least entry; null when empty. */
  @Nullable T first() {
    return first;
  }

  /** The entries, in no particular order: a view that lasts until the next change. */
  List<T> entries() {
    return Collections.unmodifiableList(Arrays.asList(entries).subList(0, size));
  }

  /**
   * The least value of all entries; {@link Long#MAX_VALUE} when empty. Looks only at entries whose
   * bound is below it.
   *
   * @param bound what no value of an entry is below; entries are in its order
   */
  long least(ToLongFunction<T> bound, ToLongFunction<T> value) {
    return least(0, Long.MAX_VALUE, bound, value);
  }

  private long least(int i, long known, ToLongFunction<T> bound, ToLongFunction<T> value) {
    if (i >= size || bound.applyAsLong(at(i)) >= known) {
      return known;
    }
    long above = Math.min(known, value.applyAsLong(at(i)));
    return least(2 * i + 2, least(2 * i + 1, above, bound, value), bound, value);
  }

  void add(T entry) {
    if (size == entries.length) {
      entries = Arrays.copyOf(entries, size + (size >> 1) + 1);
    }
    place(entry, size);
    up(size++);
  }

  void remove(T entry) {
    int hole = placeOf(entry);
    entry(entry).place = -1;
    T last = at(--size);
    entries[size] = null;
    if (last != entry) {
      place(last, hole);
      up(hole);
      down(placeOf(last));
    } else if (size == 0) {
      first = null;
    }
  }

  /** Restores the order after the rank of {@code entry} changed. */
  void moved(T entry) {
    up(placeOf(entry));
    down(placeOf(entry));
  }

  private void up(int start) {
    int i = start;
    T entry = at(i);
    while (i > 0) {
      int above = (i - 1) >>> 1;
      T other = at(above);
      if (order.compare(entry, other) >= 0) {
        break;
      }
      place(other, i);
      i = above;
    }
    place(entry, i);
  }

  private void down(int start) {
    int i = start;
    T entry = at(i);
    while (true) {
      int below = 2 * i + 1;
      if (below >= size) {
        break;
      }
      if (below + 1 < size && order.compare(at(below + 1), at(below)) < 0) {
        below++;
      }
      T other = at(below);
      if (order.compare(entry, other) <= 0) {
        break;
      }
      place(other, i);
      i = below;
    }
    place(entry, i);
  }

  private void place(T entry, int i) {
    entries[i] = entry;
    entry(entry).place = i;
    if (i == 0) {
      first = entry;
    }
  }

  private T at(int i) {
    return entries[i];
  }

  private int placeOf(T entry) {
    return entry(entry).place;
  }

  private static Entry entry(Entry entry) {
    return entry;
  }
}
