package dev.sluice.core.queue;

import java.util.Comparator;

/**
 * Classes in line of one LocalQueue, where LocalQueues take turns by their use; elsewhere those of
 * the whole ClusterQueue. Confined to the engine's thread.
 */
final class LocalQueueLane extends IndexedHeap.Entry {

  /** Who used less comes first; then the ranks of those who are first in their lines. */
  static final Comparator<LocalQueueLane> BY_USE =
      (one, two) -> {
        int byUse = one.use.compareTo(two.use);
        return byUse != 0
            ? byUse
            : EquivalenceClass.BY_RANK.compare(one.firstClass(), two.firstClass());
      };

  private final LocalQueueUsage use;
  private final IndexedHeap<EquivalenceClass> classes = new IndexedHeap<>(EquivalenceClass.BY_RANK);

  LocalQueueLane(LocalQueueUsage use) {
    this.use = use;
  }

  LocalQueueUsage use() {
    return use;
  }

  IndexedHeap<EquivalenceClass> classes() {
    return classes;
  }

  EquivalenceClass firstClass() {
    EquivalenceClass first = classes.first();
    if (first == null) {
      throw new IllegalStateException("an empty line has no first class");
    }
    return first;
  }
}
