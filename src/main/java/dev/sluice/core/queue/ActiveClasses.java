package dev.sluice.core.queue;

import org.jspecify.annotations.Nullable;

/**
 * The active equivalence classes of one queue: lanes of classes, ordered by the usage of their
 * LocalQueues, and the classes of a lane in the order of the queueing policy. Confined to the
 * scheduler thread.
 */
final class ActiveClasses {

  /** Lanes that are not empty. */
  private final IndexedHeap<LocalQueueLane> lanes = new IndexedHeap<>(LocalQueueLane.BY_USAGE);

  /** The first class; null if no class is active. */
  @Nullable EquivalenceClass first() {
    LocalQueueLane first = lanes.first();
    return first == null ? null : first.firstClass();
  }

  void add(EquivalenceClass equivalenceClass) {
    LocalQueueLane lane = equivalenceClass.lane();
    lane.classes().add(equivalenceClass);
    if (lane.inHeap()) {
      lanes.moved(lane);
    } else {
      lanes.add(lane);
    }
  }

  void remove(EquivalenceClass equivalenceClass) {
    LocalQueueLane lane = equivalenceClass.lane();
    lane.classes().remove(equivalenceClass);
    if (lane.classes().isEmpty()) {
      lanes.remove(lane);
    } else {
      lanes.moved(lane);
    }
  }

  /** Restores the order after the oldest member of an active class changed. */
  void moved(EquivalenceClass equivalenceClass) {
    equivalenceClass.lane().classes().moved(equivalenceClass);
    lanes.moved(equivalenceClass.lane());
  }

  /** Restores the order after the usage of a lane changed. */
  void usageChanged(LocalQueueLane lane) {
    if (lane.inHeap()) {
      lanes.moved(lane);
    }
  }
}
