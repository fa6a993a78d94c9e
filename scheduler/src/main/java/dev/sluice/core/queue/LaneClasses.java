package dev.sluice.core.queue;

import java.util.Comparator;

/**
 * Classes of one lane in the order of the queueing policy: the active ones, or the inadmissible
 * ones. Confined to the scheduler thread.
 */
final class LaneClasses extends IndexedHeap.Entry {

  /** Lanes with less usage come first, then lanes in the order of their first classes. */
  static final Comparator<LaneClasses> BY_USAGE =
      (one, two) -> {
        int byUsage = one.usage.compareTo(two.usage);
        return byUsage != 0
            ? byUsage
            : EquivalenceClass.BY_RANK.compare(one.firstClass(), two.firstClass());
      };

  private final LocalQueueUsage usage;
  private final IndexedHeap<EquivalenceClass> classes = new IndexedHeap<>(EquivalenceClass.BY_RANK);

  LaneClasses(LocalQueueUsage usage) {
    this.usage = usage;
  }

  IndexedHeap<EquivalenceClass> classes() {
    return classes;
  }

  EquivalenceClass firstClass() {
    EquivalenceClass first = classes.first();
    if (first == null) {
      throw new IllegalStateException("a lane without classes has no first class");
    }
    return first;
  }
}
