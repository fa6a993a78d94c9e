package dev.sluice.core.queue;

import java.util.ArrayList;
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
}
