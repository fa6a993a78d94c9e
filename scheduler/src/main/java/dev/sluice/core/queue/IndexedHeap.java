package dev.sluice.core.queue;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
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
  private final List<T> entries = new ArrayList<>(2);

  IndexedHeap(Comparator<T> order) {
    this.order = order;
  }

  int size() {
    return entries.size();
  }

  boolean isEmpty() {
    return entries.isEmpty();
  }

  /** The least entry; null when empty. */
  @Nullable T first() {
    return entries.isEmpty() ? null : entries.getFirst();
  }

  /** The entries, in no particular order. */
  List<T> entries() {
    return entries;
  }

  void add(T entry) {
    place(entry, entries.size(), true);
    up(entries.size() - 1);
  }

  void remove(T entry) {
    int hole = placeOf(entry);
    entry(entry).place = -1;
    T last = entries.removeLast();
    if (last != entry) {
      place(last, hole, false);
      up(hole);
      down(placeOf(last));
    }
  }

  /** Restores the order after the rank of {@code entry} changed. */
  void moved(T entry) {
    up(placeOf(entry));
    down(placeOf(entry));
  }

  private void up(int start) {
    int i = start;
    T entry = entries.get(i);
    while (i > 0) {
      int above = (i - 1) >>> 1;
      T other = entries.get(above);
      if (order.compare(entry, other) >= 0) {
        break;
      }
      place(other, i, false);
      i = above;
    }
    place(entry, i, false);
  }

  private void down(int start) {
    int i = start;
    int size = entries.size();
    T entry = entries.get(i);
    while (true) {
      int below = 2 * i + 1;
      if (below >= size) {
        break;
      }
      if (below + 1 < size && order.compare(entries.get(below + 1), entries.get(below)) < 0) {
        below++;
      }
      T other = entries.get(below);
      if (order.compare(entry, other) <= 0) {
        break;
      }
      place(other, i, false);
      i = below;
    }
    place(entry, i, false);
  }

  private void place(T entry, int i, boolean append) {
    if (append) {
      entries.add(entry);
    } else {
      entries.set(i, entry);
    }
    entry(entry).place = i;
  }

  private int placeOf(T entry) {
    return entry(entry).place;
  }

  private static Entry entry(Entry entry) {
    return entry;
  }
}
