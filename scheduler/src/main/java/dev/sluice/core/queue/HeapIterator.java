package dev.sluice.core.queue;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/** Returns elements in order, and sorts no more of them than are asked for. */
public final class HeapIterator<T> implements Iterator<T> {

  private final Comparator<T> order;
  private final List<T> elements = new ArrayList<>();
  private boolean isHeap;

  /** An iterator without elements so far. */
  public HeapIterator(Comparator<T> order) {
    this.order = order;
  }

  /** Adds an element; all are added before the first one is asked for. */
  public void add(T element) {
    elements.add(element);
  }

  @Override
  public boolean hasNext() {
    return !elements.isEmpty();
  }

  @Override
  public T next() {
    if (elements.isEmpty()) {
      throw new NoSuchElementException("no more elements");
    }
    if (!isHeap) {
      isHeap = true;
      for (int i = elements.size() / 2 - 1; i >= 0; i--) {
        siftDown(i);
      }
    }
    T first = elements.getFirst();
    T last = elements.removeLast();
    if (!elements.isEmpty()) {
      elements.set(0, last);
      siftDown(0);
    }
    return first;
  }

  private void siftDown(int from) {
    int i = from;
    T element = elements.get(i);
    for (int below = 2 * i + 1; below < elements.size(); below = 2 * i + 1) {
      if (below + 1 < elements.size()
          && order.compare(elements.get(below + 1), elements.get(below)) < 0) {
        below++;
      }
      if (order.compare(element, elements.get(below)) <= 0) {
        break;
      }
      elements.set(i, elements.get(below));
      i = below;
    }
    elements.set(i, element);
  }
}
