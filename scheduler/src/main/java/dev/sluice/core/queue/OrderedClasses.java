package dev.sluice.core.queue;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The active or the inadmissible equivalence classes of one queue: lanes of classes, ordered by the
 * usage of their LocalQueues, and the classes of a lane in the order of the queueing policy. A
 * change of usage moves one lane, whatever the number of its classes. Confined to the scheduler
 * thread.
 */
final class OrderedClasses {

  private final Function<LocalQueueLane, LaneClasses> part;

  /** Lanes that are not empty. */
  private final IndexedHeap<LaneClasses> lanes = new IndexedHeap<>(LaneClasses.BY_USAGE);

  /** The first class of the first lane: a look at a tree asks all its queues. */
  private @Nullable EquivalenceClass first;

  /**
   * Creates an empty order.
   *
   * @param part the classes of a lane that are in this order
   */
  OrderedClasses(Function<LocalQueueLane, LaneClasses> part) {
    this.part = part;
  }

  /** The first class; null if there is none. */
  @Nullable EquivalenceClass first() {
    return first;
  }

  private void changed() {
    LaneClasses firstLane = lanes.first();
    first = firstLane == null ? null : firstLane.firstClass();
  }

  /** All classes, in no particular order. */
  List<EquivalenceClass> all() {
    List<EquivalenceClass> all = new ArrayList<>();
    lanes.entries().forEach(lane -> all.addAll(lane.classes().entries()));
    return all;
  }

  void add(EquivalenceClass equivalenceClass) {
    LaneClasses lane = part.apply(equivalenceClass.lane());
    lane.classes().add(equivalenceClass);
    if (lane.inHeap()) {
      lanes.moved(lane);
    } else {
      lanes.add(lane);
    }
    changed();
  }

  void remove(EquivalenceClass equivalenceClass) {
    LaneClasses lane = part.apply(equivalenceClass.lane());
    lane.classes().remove(equivalenceClass);
    if (lane.classes().isEmpty()) {
      lanes.remove(lane);
    } else {
      lanes.moved(lane);
    }
    changed();
  }

  /** Restores the order after the oldest member of a class changed. */
  void moved(EquivalenceClass equivalenceClass) {
    LaneClasses lane = part.apply(equivalenceClass.lane());
    lane.classes().moved(equivalenceClass);
    lanes.moved(lane);
    changed();
  }

  /** Restores the order after the usage of a lane changed. */
  void usageChanged(LocalQueueLane changed) {
    LaneClasses lane = part.apply(changed);
    if (lane.inHeap()) {
      lanes.moved(lane);
      changed();
    }
  }

  /**
   * The classes of one LocalQueue, with admission fair sharing; otherwise of the whole
   * ClusterQueue. Confined to the scheduler thread.
   */
  static final class LocalQueueLane {

    private final LocalQueueUsage usage;
    private final LaneClasses active;
    private final LaneClasses inadmissible;

    /** Number of classes of the lane, active or not. */
    private int size;

    LocalQueueLane(LocalQueueUsage usage) {
      this.usage = usage;
      this.active = new LaneClasses(usage);
      this.inadmissible = new LaneClasses(usage);
    }

    LocalQueueUsage usage() {
      return usage;
    }

    LaneClasses active() {
      return active;
    }

    LaneClasses inadmissible() {
      return inadmissible;
    }

    /** Counts a class of the lane that was created, or with -1 one that was dropped. */
    void count(int more) {
      size += more;
    }

    /** Whether the lane has no classes. */
    boolean isUnused() {
      return size == 0;
    }
  }

  /**
   * Classes of one lane in the order of the queueing policy: the active ones, or the inadmissible
   * ones. Confined to the scheduler thread.
   */
  static final class LaneClasses extends IndexedHeap.Entry {

    /** Lanes with less usage come first, then lanes in the order of their first classes. */
    static final Comparator<LaneClasses> BY_USAGE =
        (one, two) -> {
          int byUsage = one.usage.compareTo(two.usage);
          return byUsage != 0
              ? byUsage
              : EquivalenceClass.BY_RANK.compare(one.firstClass(), two.firstClass());
        };

    private final LocalQueueUsage usage;
    private final IndexedHeap<EquivalenceClass> classes =
        new IndexedHeap<>(EquivalenceClass.BY_RANK);

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
}
