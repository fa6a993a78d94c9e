package dev.sluice.core.engine;

import dev.sluice.core.backfill.PlannedStarts;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.FlavorResourceIndex;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.reservation.Reservations;
import dev.sluice.core.topology.TopologyCache;
import dev.sluice.core.topology.TopologyUsage;
import dev.sluice.core.waiting.WaitingWorkloads;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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

  /** Queues whose published views are out of date, and whether quota trees have to be rebuilt. */
  static final class DirtySet {

    final Set<String> clusterQueues = new LinkedHashSet<>();
    final Set<LocalQueueId> localQueues = new LinkedHashSet<>();

    /** Specs changed: the quota trees have to be rebuilt before the next decision. */
    boolean everything;

    /** Every view is out of date. */
    boolean all;

    void touched(String clusterQueue, LocalQueueId localQueue) {
      if (!clusterQueue.isEmpty()) {
        clusterQueues.add(clusterQueue);
      }
      localQueues.add(localQueue);
    }

    boolean isEmpty() {
      return !all && clusterQueues.isEmpty() && localQueues.isEmpty();
    }

    void clear() {
      clusterQueues.clear();
      localQueues.clear();
      all = false;
    }
  }

  /**
   * Quota that is reserved for a Workload.
   *
   * @param clusterQueue the ClusterQueue whose quota is reserved
   * @param quotaHolder the Workload and the reserved amounts
   * @param admitted whether the Workload is admitted
   * @param awaitsPods whether admission of other Workloads waits for the pods: the Workload is
   *     admitted, or about to be, and its pods were not reported ready
   * @param granted what was granted to a slice of an elastic job, of which the quota holder may
   *     hold a part; null for other Workloads
   */
  record Reservation(
      String clusterQueue,
      QuotaHolder quotaHolder,
      boolean admitted,
      boolean awaitsPods,
      @Nullable Granted granted) {

    /** What was granted to a slice, in whole. */
    record Granted(QuotaHolder quotaHolder, List<PodSetAssignment> podSets) {}

    /**
     * The reservation that the API server reports.
     *
     * @param evicting whether the eviction was decided, even if the API server doesn't report it
     *     yet
     */
    static Reservation of(
        ReservingWorkload workload,
        boolean evicting,
        FlavorResourceIndex numbers,
        TopologyCache topologies) {
      Sums sums = Sums.of(workload.podSets(), numbers);
      QuotaHolder quotaHolder =
          new QuotaHolder(
              workload.id(),
              workload.localQueue(),
              workload.priority(),
              workload.queuedAt(),
              workload.reservedAt(),
              sums.pairs,
              sums.amounts,
              evicting || workload.evicted(),
              workload.evictable(),
              workload.guaranteed(),
              topologies.usage(workload.podSets()),
              workload.protection());
      return new Reservation(
          workload.clusterQueue(),
          quotaHolder,
          workload.admitted(),
          workload.admitted() && !workload.podsReady(),
          workload.slice().isEmpty() ? null : new Granted(quotaHolder, workload.podSets()));
    }

    /** The reservation that a cycle decided. */
    static Reservation decided(
        QueuedWorkload item,
        String clusterQueue,
        List<PodSetAssignment> podSets,
        Instant now,
        FlavorResourceIndex numbers,
        TopologyCache topologies) {
      Sums sums = Sums.of(podSets, numbers);
      QuotaHolder quotaHolder =
          new QuotaHolder(
              item.id(),
              item.localQueue(),
              item.equivalenceClass().priority(),
              item.queuedAt(),
              now,
              sums.pairs,
              sums.amounts,
              false,
              item.evictable(),
              item.equivalenceClass().shape().guaranteed(),
              topologies.usage(podSets),
              new PreemptionProtection(
                  item.equivalenceClass().shape().preemption(), item.history().reserving()));
      return new Reservation(
          clusterQueue,
          quotaHolder,
          false,
          true,
          item.equivalenceClass().shape().slice().isEmpty()
              ? null
              : new Granted(quotaHolder, podSets));
    }

    /** Whether a slice was granted other amounts before, even if it is charged the same. */
    boolean isScaledSince(Reservation before) {
      return granted != null
          && before.granted != null
          && !granted.quotaHolder.hasSameUsageAs(before.granted.quotaHolder);
    }

    /** The reservation as a value. */
    WorkloadExport.ReservationExport export() {
      return new WorkloadExport.ReservationExport(
          clusterQueue,
          quotaHolder.export(),
          admitted,
          awaitsPods,
          quotaHolder.protection(),
          Optional.ofNullable(granted)
              .map(
                  whole ->
                      new WorkloadExport.GrantedExport(
                          whole.quotaHolder().export(), whole.podSets())));
    }

    /** The reservation that a value stands for. */
    static Reservation restored(
        WorkloadId id,
        LocalQueueId localQueue,
        WorkloadExport.ReservationExport exported,
        TopologyCache topologies) {
      return new Reservation(
          exported.clusterQueue(),
          QuotaHolder.restored(
              id, localQueue, exported.holder(), exported.protection(), topologies),
          exported.admitted(),
          exported.awaitsPods(),
          exported
              .granted()
              .map(
                  whole ->
                      new Granted(
                          QuotaHolder.restored(
                              id, localQueue, whole.holder(), exported.protection(), topologies),
                          whole.podSets()))
              .orElse(null));
    }

    /**
     * The reserved amounts by pair, in the order of the pairs' numbers. A negative amount, which
     * only a status that nobody checked can contain, counts as 0: otherwise other Workloads could
     * use more than the quota.
     */
    private static final class Sums {
      private int[] pairs = new int[2];
      private long[] amounts = new long[2];
      private int size;

      static Sums of(List<PodSetAssignment> podSets, FlavorResourceIndex numbers) {
        Sums sums = new Sums();
        for (PodSetAssignment podSet : podSets) {
          for (Map.Entry<String, Long> used : podSet.usage().entrySet()) {
            String flavor = podSet.flavors().get(used.getKey());
            if (flavor != null) {
              sums.add(numbers.number(flavor, used.getKey()), Math.max(0, used.getValue()));
            }
          }
        }
        sums.pairs = Arrays.copyOf(sums.pairs, sums.size);
        sums.amounts = Arrays.copyOf(sums.amounts, sums.size);
        return sums;
      }

      private void add(int pair, long amount) {
        int at = Arrays.binarySearch(pairs, 0, size, pair);
        if (at >= 0) {
          amounts[at] = ResourceAmounts.add(amounts[at], amount);
          return;
        }
        if (size == pairs.length) {
          pairs = Arrays.copyOf(pairs, 2 * size);
          amounts = Arrays.copyOf(amounts, 2 * size);
        }
        int index = -at - 1;
        System.arraycopy(pairs, index, pairs, index + 1, size - index);
        System.arraycopy(amounts, index, amounts, index + 1, size - index);
        pairs[index] = pair;
        amounts[index] = amount;
        size++;
      }
    }

    /** The same reservation of an admitted Workload. */
    Reservation asAdmitted() {
      return new Reservation(clusterQueue, quotaHolder, true, awaitsPods, granted);
    }

    /** The same reservation of a Workload that is not admitted yet and therefore has no pods. */
    Reservation withoutPods() {
      return new Reservation(clusterQueue, quotaHolder, false, false, granted);
    }

    /** The same reservation with its eviction decided, or not. */
    Reservation evicting(boolean evicting) {
      return new Reservation(
          clusterQueue, quotaHolder.evicting(evicting), admitted, awaitsPods, granted);
    }

    /** What is reserved for the pod sets; empty unless the Workload is a slice. */
    List<PodSetAssignment> podSets() {
      return granted == null ? List.of() : granted.podSets();
    }

    /**
     * The same reservation of a slice, with what is charged for it.
     *
     * @param replaced the reservation of the slice that it replaces, which is charged for its part;
     *     null if there is none
     * @param succeeded whether its replacement is admitted: its eviction would release nothing
     */
    Reservation charged(@Nullable Reservation replaced, boolean succeeded) {
      if (granted == null) {
        return this;
      }
      QuotaHolder whole = granted.quotaHolder();
      Granted other =
          replaced != null && replaced.clusterQueue().equals(clusterQueue)
              ? replaced.granted()
              : null;
      long[] amounts = new long[whole.size()];
      for (int i = 0; i < amounts.length; i++) {
        long held = other == null ? 0 : other.quotaHolder().amountOf(whole.pair(i));
        amounts[i] = Math.max(0, whole.amount(i) - held);
      }
      TopologyUsage places =
          TopologyUsage.beyond(
              whole.topology(), other == null ? null : other.quotaHolder().topology());
      return new Reservation(
          clusterQueue,
          whole
              .evicting(quotaHolder.evicted())
              .withUsage(amounts, places, whole.evictable() && !succeeded),
          admitted,
          awaitsPods,
          granted);
    }

    boolean sameUsageAs(Reservation other) {
      return clusterQueue.equals(other.clusterQueue)
          && quotaHolder.hasSameUsageAs(other.quotaHolder);
    }
  }
}
