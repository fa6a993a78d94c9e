package dev.sluice.engine;

import dev.sluice.queue.Holder;
import dev.sluice.queue.QueueState;
import dev.sluice.scheduling.Sleepers;
import org.jspecify.annotations.Nullable;

/** Who holds quota: the one place where usage of trees and queues is added and taken back. */
final class Holdings {

  private final Registry registry;
  private final Sleepers sleepers;
  private final Ready ready;
  private final Changes changes;
  private final ReadinessGate gate;

  Holdings(Registry registry, Sleepers sleepers, Ready ready, Changes changes, ReadinessGate gate) {
    this.registry = registry;
    this.sleepers = sleepers;
    this.ready = ready;
    this.changes = changes;
    this.gate = gate;
  }

  /**
   * Sets what a Workload holds.
   *
   * @param reservation null when it holds nothing any more
   * @param inTree whether usage of the quota tree has this reservation already
   */
  void set(WorkloadEntry entry, @Nullable Reservation reservation, boolean inTree) {
    Reservation before = entry.reservation;
    gate.awaits(entry, reservation != null && reservation.awaitsPods());
    if (before != null && reservation != null && before.sameUsageAs(reservation)) {
      countAdmitted(entry, before, false);
      entry.reservation = reservation;
      countAdmitted(entry, reservation, true);
      replace(before, reservation);
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

  /** It holds what it held, but its place among victims may be another one. */
  private void replace(Reservation before, Reservation after) {
    ClusterQueueState queue = registry.clusterQueue(after.clusterQueue());
    queue.holders.remove(before.holder());
    queue.holders.add(after.holder());
    QueueState state = queue.state;
    if (state == null || before.holder().sameAs(after.holder())) {
      return;
    }
    ready.changed(state.node());
    if (before.holder().priority() != after.holder().priority()) {
      sleepers.released(state.node());
    }
  }

  private void take(WorkloadEntry entry, Reservation reservation, boolean inTree) {
    ClusterQueueState queue = registry.clusterQueue(reservation.clusterQueue());
    QueueState state = queue.state;
    Holder holder = reservation.holder();
    queue.holders.add(holder);
    entry.localQueue.reserving++;
    for (int i = 0; i < holder.size(); i++) {
      entry.localQueue.reserved.add(holder.pair(i), holder.amount(i));
      if (state != null && !inTree) {
        state.node().add(holder.pair(i), holder.amount(i));
      }
    }
    if (state != null) {
      ready.changed(state.node());
    }
    countAdmitted(entry, reservation, true);
  }

  private void drop(WorkloadEntry entry, Reservation reservation) {
    ClusterQueueState queue = registry.clusterQueue(reservation.clusterQueue());
    QueueState state = queue.state;
    Holder holder = reservation.holder();
    countAdmitted(entry, reservation, false);
    queue.holders.remove(holder);
    entry.localQueue.reserving--;
    for (int i = 0; i < holder.size(); i++) {
      entry.localQueue.reserved.subtract(holder.pair(i), holder.amount(i));
      if (state != null) {
        state.node().remove(holder.pair(i), holder.amount(i));
        state.advanceQuotaGeneration();
      }
    }
    if (state != null) {
      sleepers.released(state.node());
      ready.changed(state.node());
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
    Holder holder = reservation.holder();
    for (int i = 0; i < holder.size(); i++) {
      int pair = holder.pair(i);
      long amount = holder.amount(i);
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
