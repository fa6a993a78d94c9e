package dev.sluice.core.engine;

import dev.sluice.core.backfill.PlannedStarts;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.reservation.Reservations;
import dev.sluice.core.topology.TopologyUsage;
import dev.sluice.core.waiting.WaitingWorkloads;
import org.jspecify.annotations.Nullable;

/**
 * Accounts for reserved quota: adds and removes the usage of reservations in quota trees,
 * ClusterQueues and LocalQueues. Only {@code SchedulingCycle} adds usage of its own, for a head
 * that it admits; the reservation then takes that usage over.
 */
final class QuotaAccounting {

  private final SpecRegistry specRegistry;
  private final WaitingWorkloads waiting;
  private final DirtySet dirtySet;
  private final JobSlices slices;
  final BudgetKeeper budgets;
  private final Reservations reservations;
  private final PlannedStarts plannedStarts;

  QuotaAccounting(
      SpecRegistry specRegistry,
      WaitingWorkloads waiting,
      DirtySet dirtySet,
      JobSlices slices,
      ReservationKeeper reservations,
      PlannedStarts plannedStarts) {
    this.specRegistry = specRegistry;
    this.waiting = waiting;
    this.dirtySet = dirtySet;
    this.slices = slices;
    this.budgets = reservations.budgets();
    this.reservations = reservations.reservations();
    this.plannedStarts = plannedStarts;
  }

  /**
   * Sets the reservation of a Workload.
   *
   * @param reservation null when the Workload has no reservation any more
   * @param inTree whether the usage of the quota tree contains this reservation already
   */
  void set(WorkloadEntry entry, @Nullable Reservation reservation, boolean inTree) {
    change(entry, reservation == null ? null : slices.charged(entry, reservation), inTree);
    if (entry.slice != null) {
      chargeAgain(slices.replacementOf(entry));
      chargeAgain(slices.named(entry));
    }
  }

  /**
   * Takes over the reservation of a Workload before the quota trees are built, so that nobody is
   * told of a change.
   */
  void restore(WorkloadEntry entry, Reservation reservation) {
    entry.reservation = reservation;
    ClusterQueueState queue = specRegistry.clusterQueue(reservation.clusterQueue());
    QuotaHolder quotaHolder = reservation.quotaHolder();
    queue.quotaHolders.add(quotaHolder);
    entry.localQueue.reserving++;
    for (int i = 0; i < quotaHolder.size(); i++) {
      entry.localQueue.reserved.add(quotaHolder.pair(i), quotaHolder.amount(i));
    }
    TopologyUsage places = quotaHolder.topology();
    if (places != null) {
      places.add();
    }
    waiting.setAwaitsPods(entry.id, reservation.awaitsPods());
    if (reservation.awaitsPods()) {
      queue.awaitingPods++;
    }
    countAdmitted(entry, reservation, true);
  }

  /** Charges a slice anew after the slice that it shares quota with has changed. */
  void chargeAgain(@Nullable WorkloadEntry entry) {
    Reservation reservation = entry == null ? null : entry.reservation;
    if (entry != null && reservation != null) {
      change(entry, slices.charged(entry, reservation), false);
    }
  }

  private void change(WorkloadEntry entry, @Nullable Reservation reservation, boolean inTree) {
    Reservation before = entry.reservation;
    budgets.changed(entry, reservation);
    preemptionChanges(entry, reservation);
    waiting.setAwaitsPods(entry.id, reservation != null && reservation.awaitsPods());
    if (reservation != null && reservation.awaitsPods()) {
      awaitPods(reservation.clusterQueue(), 1);
    }
    if (before != null && before.awaitsPods()) {
      awaitPods(before.clusterQueue(), -1);
    }
    if (before != null && reservation != null && before.sameUsageAs(reservation)) {
      countAdmitted(entry, before, false);
      entry.reservation = reservation;
      countAdmitted(entry, reservation, true);
      replace(before, reservation);
      return;
    }
    if (before != null) {
      remove(entry, before);
    }
    entry.reservation = reservation;
    if (reservation != null) {
      add(entry, reservation, inTree);
    }
  }

  /** Sets when a Workload with this reservation becomes a preemption target. */
  void preemptionChanges(WorkloadEntry entry, @Nullable Reservation reservation) {
    if (reservation == null) {
      waiting.preemptionChangesAt(entry.id, "", Long.MIN_VALUE, Long.MIN_VALUE);
    } else {
      waiting.preemptionChangesAt(
          entry.id,
          reservation.clusterQueue(),
          protectedUntil(reservation, false),
          protectedUntil(reservation, true));
    }
  }

  private long protectedUntil(Reservation reservation, boolean exempt) {
    ClusterQueueCache cache = specRegistry.cacheOf(reservation.clusterQueue());
    QuotaHolder quotaHolder = reservation.quotaHolder();
    return cache == null || !quotaHolder.evictable()
        ? Long.MIN_VALUE
        : quotaHolder.protectedUntilMicros(cache.node().preemptionRules(), exempt);
  }

  private void awaitPods(String clusterQueue, int more) {
    ClusterQueueState queue = specRegistry.clusterQueue(clusterQueue);
    queue.awaitingPods += more;
    ClusterQueueCache cache = queue.cache;
    if (cache != null && cache.spec().rules().blocksUntilReady()) {
      cache.awaitsPods(queue.awaitingPods > 0);
      if (!cache.waitsForPods()) {
        waiting.unblock(cache);
      }
    }
  }

  /**
   * Replaces a reservation by another one with the same amounts, whose position in the order of
   * targets may differ.
   */
  private void replace(Reservation before, Reservation after) {
    ClusterQueueState queue = specRegistry.clusterQueue(after.clusterQueue());
    if (queue.cache != null && after.isScaledSince(before)) {
      waiting.released(queue.cache.node());
    }
    if (before.quotaHolder() == after.quotaHolder()) {
      return; // nothing that preemption sees has changed
    }
    queue.quotaHolders.remove(before.quotaHolder());
    queue.quotaHolders.add(after.quotaHolder());
    ClusterQueueCache cache = queue.cache;
    if (cache == null) {
      return;
    }
    plannedStarts.releases(before.quotaHolder());
    plannedStarts.holds(cache.node(), after.quotaHolder());
    reservations.releases(cache, before.quotaHolder());
    reservations.holds(cache, after.quotaHolder());
    if (changesProtection(before.quotaHolder(), after.quotaHolder(), cache)) {
      waiting.released(cache.node());
      return;
    }
    if (before.quotaHolder().sameAs(after.quotaHolder())) {
      return;
    }
    if (before.quotaHolder().priority() != after.quotaHolder().priority()
        || before.quotaHolder().evictable() != after.quotaHolder().evictable()) {
      waiting.released(cache.node());
    } else {
      waiting.changed(cache.node());
    }
  }

  private static boolean changesProtection(
      QuotaHolder before, QuotaHolder after, ClusterQueueCache queue) {
    PreemptionRules rules = queue.node().preemptionRules();
    return before.evicted() == after.evicted()
        && (before.protectedUntilMicros(rules, false) != after.protectedUntilMicros(rules, false)
            || before.protectedUntilMicros(rules, true) != after.protectedUntilMicros(rules, true));
  }

  private void add(WorkloadEntry entry, Reservation reservation, boolean inTree) {
    ClusterQueueState queue = specRegistry.clusterQueue(reservation.clusterQueue());
    ClusterQueueCache cache = queue.cache;
    QuotaHolder quotaHolder = reservation.quotaHolder();
    queue.quotaHolders.add(quotaHolder);
    entry.localQueue.reserving++;
    if (cache != null && !inTree) {
      cache.node().countWorkloads(1);
      if (queue.quotaHolders.isGuaranteed(quotaHolder)) {
        quotaHolder.addGuaranteedTo(cache.node());
      }
    }
    for (int i = 0; i < quotaHolder.size(); i++) {
      entry.localQueue.reserved.add(quotaHolder.pair(i), quotaHolder.amount(i));
      if (cache != null && !inTree) {
        cache.node().add(quotaHolder.pair(i), quotaHolder.amount(i));
      }
    }
    TopologyUsage places = quotaHolder.topology();
    if (places != null && !inTree) {
      places.add();
      placesTaken();
      groupsAdded(places);
    }
    if (cache != null) {
      plannedStarts.holds(cache.node(), quotaHolder);
      reservations.holds(cache, quotaHolder);
      waiting.changed(cache.node());
    }
    countAdmitted(entry, reservation, true);
  }

  private void remove(WorkloadEntry entry, Reservation reservation) {
    ClusterQueueState queue = specRegistry.clusterQueue(reservation.clusterQueue());
    ClusterQueueCache cache = queue.cache;
    QuotaHolder quotaHolder = reservation.quotaHolder();
    countAdmitted(entry, reservation, false);
    queue.quotaHolders.remove(quotaHolder);
    plannedStarts.releases(quotaHolder);
    reservations.releases(cache, quotaHolder);
    entry.localQueue.reserving--;
    if (entry.localQueue.limitsWorkloads()) {
      specRegistry.freed.add(entry.localQueue);
    }
    for (int i = 0; i < quotaHolder.size(); i++) {
      entry.localQueue.reserved.subtract(quotaHolder.pair(i), quotaHolder.amount(i));
      if (cache != null) {
        cache.node().remove(quotaHolder.pair(i), quotaHolder.amount(i));
        cache.advanceQuotaGeneration();
      }
    }
    TopologyUsage places = quotaHolder.topology();
    if (places != null) {
      places.remove();
      placesReleased();
    }
    if (cache != null) {
      cache.node().countWorkloads(-1);
      if (queue.quotaHolders.isGuaranteed(quotaHolder)) {
        quotaHolder.removeGuaranteedFrom(cache.node());
      }
      waiting.released(cache);
    }
  }

  /**
   * Records that pods may find places that didn't find any before: in every tree, because queues of
   * several trees may have the same nodes.
   */
  void placesReleased() {
    for (QuotaNode root : specRegistry.topologyTrees) {
      waiting.released(root);
    }
  }

  /** Records that other groups count: each of them makes the shares of all other domains less. */
  void groupsAdded(TopologyUsage topologyUsage) {
    if (topologyUsage.isSpread()) {
      placesReleased();
    }
  }

  /** Records that heads of any tree that wait for targets may not find their places any more. */
  void placesTaken() {
    specRegistry.topologyTrees.forEach(waiting::changed);
  }

  private void countAdmitted(WorkloadEntry entry, Reservation reservation, boolean add) {
    dirtySet.touched(reservation.clusterQueue(), entry.localQueue.id);
    if (!reservation.admitted()) {
      return;
    }
    ClusterQueueState queue = specRegistry.clusterQueue(reservation.clusterQueue());
    queue.admittedCount += add ? 1 : -1;
    entry.localQueue.admittedCount += add ? 1 : -1;
    QuotaHolder quotaHolder = reservation.quotaHolder();
    for (int i = 0; i < quotaHolder.size(); i++) {
      int pair = quotaHolder.pair(i);
      long amount = quotaHolder.amount(i);
      if (add) {
        queue.admitted.add(pair, amount);
        entry.localQueue.admitted.add(pair, amount);
      } else {
        queue.admitted.subtract(pair, amount);
        entry.localQueue.admitted.subtract(pair, amount);
      }
    }
  }
}
