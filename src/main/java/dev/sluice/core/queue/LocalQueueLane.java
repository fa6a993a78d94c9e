package dev.sluice.core.queue;

import java.util.Comparator;

/**
 * The active classes of one LocalQueue, with admission fair sharing; otherwise of the whole
 * ClusterQueue. Confined to the scheduler thread.
 */
final class LocalQueueLane extends IndexedHeap.Entry {

  /** Lanes with less usage come first, then lanes in the order of their first classes. */
  static final Comparator<LocalQueueLane> BY_USAGE =
      (one, two) -> {
        int byUsage = one.usage.compareTo(two.usage);
        return byUsage != 0
            ? byUsage
            : EquivalenceClass.BY_RANK.compare(one.firstClass(), two.firstClass());
      };

  private final LocalQueueUsage usage;
  private final IndexedHeap<EquivalenceClass> classes = new IndexedHeap<>(EquivalenceClass.BY_RANK);

  /** Number of classes of the lane, active or not. */
  private int size;

  LocalQueueLane(LocalQueueUsage usage) {
    this.usage = usage;
  }

  LocalQueueUsage usage() {
    return usage;
  }

  IndexedHeap<EquivalenceClass> classes() {
    return classes;
  }

  /** Counts a class of the lane that was created, or with -1 one that was dropped. */
  void count(int more) {
    size += more;
  }

  /** Whether the lane has no classes. */
  boolean isUnused() {
    return size == 0;
  }

  EquivalenceClass firstClass() {
    EquivalenceClass first = classes.first();
    if (first == null) {
      throw new IllegalStateException("a lane without classes has no first class");
    }
    return first;
  }
}
