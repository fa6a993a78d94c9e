package dev.sluice.core.queue;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Iterates over the active Workloads of a queue in its order, and sorts no more of them than are
 * asked for. The Workload that was returned last may leave the queue meanwhile; nothing else may
 * change.
 */
public final class ActiveInOrder implements Iterator<QueuedWorkload> {

  /** The next Workload of a class, and those after it once they are needed. */
  private static final class ClassCursor {
    private final EquivalenceClass equivalenceClass;
    private QueuedWorkload next;
    private @Nullable HeapIterator<QueuedWorkload> memberIterator;

    ClassCursor(EquivalenceClass equivalenceClass) {
      this.equivalenceClass = equivalenceClass;
      this.next = equivalenceClass.head();
    }

    /** Goes on to the next member; false if there is none. */
    boolean advance() {
      HeapIterator<QueuedWorkload> sorted = memberIterator;
      if (sorted == null) {
        sorted = new HeapIterator<>(QueuedWorkload.BY_AGE);
        for (QueuedWorkload member : equivalenceClass.members()) {
          if (QueuedWorkload.BY_AGE.compare(member, next) > 0) {
            sorted.add(member);
          }
        }
        memberIterator = sorted;
      }
      if (!sorted.hasNext()) {
        return false;
      }
      next = sorted.next();
      return true;
    }
  }

  private final PriorityQueue<ClassCursor> cursors;
  private @Nullable ClassCursor last;

  ActiveInOrder(List<EquivalenceClass> classes, Comparator<QueuedWorkload> order) {
    Comparator<QueuedWorkload> inQueue =
        Comparator.comparing(QueuedWorkload::usage).thenComparing(order);
    cursors =
        new PriorityQueue<>(
            Math.max(1, classes.size()), (one, two) -> inQueue.compare(one.next, two.next));
    classes.forEach(each -> cursors.add(new ClassCursor(each)));
  }

  @Override
  public boolean hasNext() {
    advanceLast();
    return !cursors.isEmpty();
  }

  @Override
  public QueuedWorkload next() {
    advanceLast();
    ClassCursor first = cursors.remove();
    last = first;
    return first.next;
  }

  /** Leaves out the other members of the class of the Workload that was returned last. */
  public void dropClass() {
    last = null;
  }

  private void advanceLast() {
    ClassCursor returned = last;
    last = null;
    if (returned != null && returned.advance()) {
      cursors.add(returned);
    }
  }

  /** Returns elements in order, and sorts no more of them than are asked for. */
  public static final class HeapIterator<T> implements Iterator<T> {

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
}
