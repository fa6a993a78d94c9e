package dev.sluice.core.engine;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.scheduling.InadmissibleIndex;
import org.jspecify.annotations.Nullable;

/** Who holds quota: the one place where usage of trees and queues is added and taken back. */
final class QuotaAccounting {

  private final SpecRegistry specRegistry;
  private final InadmissibleIndex inadmissibleIndex;
  private final ActiveQueues activeQueues;
  private final DirtySet dirtySet;
  private final PodsReadyGate gate;

  QuotaAccounting(
      SpecRegistry specRegistry,
      InadmissibleIndex inadmissibleIndex,
      ActiveQueues activeQueues,
      DirtySet dirtySet,
      PodsReadyGate gate) {
    this.specRegistry = specRegistry;
    this.inadmissibleIndex = inadmissibleIndex;
    this.activeQueues = activeQueues;
    this.dirtySet = dirtySet;
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
    ClusterQueueState queue = specRegistry.clusterQueue(after.clusterQueue());
    queue.quotaHolders.remove(before.quotaHolder());
    queue.quotaHolders.add(after.quotaHolder());
    ClusterQueueCache state = queue.state;
    if (state == null || before.quotaHolder().sameAs(after.quotaHolder())) {
      return;
    }
    activeQueues.changed(state.node());
    if (before.quotaHolder().priority() != after.quotaHolder().priority()) {
      inadmissibleIndex.released(state.node());
    }
  }

  private void take(WorkloadEntry entry, Reservation reservation, boolean inTree) {
    ClusterQueueState queue = specRegistry.clusterQueue(reservation.clusterQueue());
    ClusterQueueCache state = queue.state;
    QuotaHolder quotaHolder = reservation.quotaHolder();
    queue.quotaHolders.add(quotaHolder);
    entry.localQueue.reserving++;
    for (int i = 0; i < quotaHolder.size(); i++) {
      entry.localQueue.reserved.add(quotaHolder.pair(i), quotaHolder.amount(i));
      if (state != null && !inTree) {
        state.node().add(quotaHolder.pair(i), quotaHolder.amount(i));
      }
    }
    if (state != null) {
      activeQueues.changed(state.node());
    }
    countAdmitted(entry, reservation, true);
  }

  private void drop(WorkloadEntry entry, Reservation reservation) {
    ClusterQueueState queue = specRegistry.clusterQueue(reservation.clusterQueue());
    ClusterQueueCache state = queue.state;
    QuotaHolder quotaHolder = reservation.quotaHolder();
    countAdmitted(entry, reservation, false);
    queue.quotaHolders.remove(quotaHolder);
    entry.localQueue.reserving--;
    for (int i = 0; i < quotaHolder.size(); i++) {
      entry.localQueue.reserved.subtract(quotaHolder.pair(i), quotaHolder.amount(i));
      if (state != null) {
        state.node().remove(quotaHolder.pair(i), quotaHolder.amount(i));
        state.advanceQuotaGeneration();
      }
    }
    if (state != null) {
      inadmissibleIndex.released(state.node());
      activeQueues.changed(state.node());
    }
  }

  private void countAdmitted(WorkloadEntry entry, Reservation reservation, boolean more) {
    dirtySet.touched(reservation.clusterQueue(), entry.localQueue.id);
    if (!reservation.admitted()) {
      return;
    }
    ClusterQueueState queue = specRegistry.clusterQueue(reservation.clusterQueue());
    queue.admittedCount += more ? 1 : -1;
    entry.localQueue.admittedCount += more ? 1 : -1;
    QuotaHolder quotaHolder = reservation.quotaHolder();
    for (int i = 0; i < quotaHolder.size(); i++) {
      int pair = quotaHolder.pair(i);
      long amount = quotaHolder.amount(i);
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
