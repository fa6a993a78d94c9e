package dev.sluice.engine;

import dev.sluice.queue.QueueState;
import dev.sluice.scheduling.Sleepers;
import org.jspecify.annotations.Nullable;

/** Who holds quota: the one place where usage of trees and queues is added and taken back. */
final class Holdings {

  private final Registry registry;
  private final Sleepers sleepers;
  private final Changes changes;

  Holdings(Registry registry, Sleepers sleepers, Changes changes) {
    this.registry = registry;
    this.sleepers = sleepers;
    this.changes = changes;
  }

  /**
   * Sets what a Workload holds.
   *
   * @param reservation null when it holds nothing any more
   * @param inTree whether usage of the quota tree has this reservation already
   */
  void set(WorkloadEntry entry, @Nullable Reservation reservation, boolean inTree) {
    Reservation before = entry.reservation;
    if (before != null && reservation != null && before.sameUsageAs(reservation)) {
      countAdmitted(entry, before, false);
      entry.reservation = reservation;
      countAdmitted(entry, reservation, true);
      return;
    }
    if (before != null) {
      drop(entry, before);
    }
    entry.reservation = reservation;
    if (reservation != null) {
      take(entry, reservation, inTree);
    }
  }

  private void take(WorkloadEntry entry, Reservation reservation, boolean inTree) {
    ClusterQueueState queue = registry.clusterQueue(reservation.clusterQueue());
    QueueState state = queue.state;
    queue.holders.add(entry);
    entry.localQueue.reserving++;
    for (int i = 0; i < reservation.pairs().length; i++) {
      int pair = reservation.pairs()[i];
      entry.localQueue.reserved.add(pair, reservation.amounts()[i]);
      if (state != null && !inTree) {
        state.node().add(pair, reservation.amounts()[i]);
      }
    }
    countAdmitted(entry, reservation, true);
  }

  private void drop(WorkloadEntry entry, Reservation reservation) {
    ClusterQueueState queue = registry.clusterQueue(reservation.clusterQueue());
    QueueState state = queue.state;
    countAdmitted(entry, reservation, false);
    queue.holders.remove(entry);
    entry.localQueue.reserving--;
    for (int i = 0; i < reservation.pairs().length; i++) {
      int pair = reservation.pairs()[i];
      entry.localQueue.reserved.subtract(pair, reservation.amounts()[i]);
      if (state != null) {
        state.node().remove(pair, reservation.amounts()[i]);
        state.advanceQuotaGeneration();
        sleepers.released(state.node(), pair);
      }
    }
  }

  private void countAdmitted(WorkloadEntry entry, Reservation reservation, boolean more) {
    changes.touched(reservation.clusterQueue(), entry.localQueue.id);
    if (!reservation.admitted()) {
      return;
    }
    ClusterQueueState queue = registry.clusterQueue(reservation.clusterQueue());
    queue.admittedCount += more ? 1 : -1;
    entry.localQueue.admittedCount += more ? 1 : -1;
    for (int i = 0; i < reservation.pairs().length; i++) {
      int pair = reservation.pairs()[i];
      long amount = reservation.amounts()[i];
      if (more) {
        queue.admitted.add(pair, amount);
        entry.localQueue.admitted.add(pair, amount);
      } else {
        queue.admitted.subtract(pair, amount);
        entry.localQueue.admitted.subtract(pair, amount);
      }
    }
  }
}
