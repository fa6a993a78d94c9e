package dev.sluice.core.engine;

import dev.sluice.core.backfill.BackfillExport;
import dev.sluice.core.engine.Explanations.UnreportedExplanations;
import dev.sluice.core.engine.QuotaAccounting.DirtySet;
import dev.sluice.core.engine.QuotaAccounting.Reservation;
import dev.sluice.core.engine.WorkloadEntry.Stage;
import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
import dev.sluice.core.waiting.WaitingExport;
import dev.sluice.core.waiting.WaitingWorkloads;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All Workloads that the engine knows, and their stages. Events carry versions: an event that is
 * older than the known version is ignored. An admission is written with the version it was based on
 * as a precondition; therefore any later version shows whether the admission was written.
 */
final class WorkloadTable {

  /** The backoff of a Workload whose admission the API server refused. */
  static final Duration REFUSAL_BACKOFF = Duration.ofSeconds(10);

  private final SpecRegistry specRegistry;
  private final QuotaAccounting quotaAccounting;
  private final DirtySet dirtySet;
  private final UnreportedExplanations unreportedExplanations;
  private final WaitingWorkloads waiting;
  private final UsageLedger usageLedger;
  private final JobSlices slices;
  private final SecondPassQueue secondPasses;
  private final BudgetKeeper budgets;
  private final BackoffTimers backoffTimers = new BackoffTimers();
  private final Map<String, WorkloadEntry> entries = new HashMap<>();

  /** The ClusterQueues in which Workloads became the first by a preemption, by UID. */
  private final Map<String, Set<String>> preemptors = new HashMap<>();

  private final List<WorkloadEntry> evicted = new ArrayList<>();
  private final List<WorkloadEntry> nominated = new ArrayList<>();

  /** Whether a Workload may have rules of its priority class; found out when trees are built. */
  private boolean ofClasses = true;

  private Instant now = Instant.EPOCH;

  WorkloadTable(
      SpecRegistry specRegistry,
      QuotaAccounting quotaAccounting,
      DirtySet dirtySet,
      UnreportedExplanations unreportedExplanations,
      WaitingWorkloads waiting,
      UsageLedger usageLedger,
      JobSlices slices,
      SecondPassQueue secondPasses) {
    this.specRegistry = specRegistry;
    this.quotaAccounting = quotaAccounting;
    this.dirtySet = dirtySet;
    this.unreportedExplanations = unreportedExplanations;
    this.waiting = waiting;
    this.usageLedger = usageLedger;
    this.slices = slices;
    this.secondPasses = secondPasses;
    this.budgets = quotaAccounting.budgets;
  }

  /** The Workloads as a value, with what may hold them and with what is planned for them. */
  EngineState.WorkloadsExport export(
      ReservationKeeper reservations, BudgetKeeper keeper, BackfillExport backfill) {
    return new EngineState.WorkloadsExport(
        entries.values().stream()
            .filter(entry -> !entry.isKnownByItem())
            .sorted(Comparator.comparing(entry -> entry.id.uid()))
            .map(WorkloadEntry::export)
            .toList(),
        backoffTimers.export(entry -> entries.get(entry.id.uid()) == entry),
        slices.export(),
        slices.exportReplacements(),
        secondPasses.export(),
        unreportedExplanations.export(),
        new EngineState.BudgetsExport(
            keeper.export(), keeper.isReleased(), keeper.prices(), reservations.export()),
        backfill);
  }

  /** Takes over the Workloads and their reservations, except for those in queues. */
  void restore(EngineState.WorkloadsExport exported, Instant instant) {
    now = instant;
    for (WorkloadExport each : exported.workloads()) {
      LocalQueueId queue = new LocalQueueId(each.id().namespace(), each.queueName());
      WorkloadEntry entry = create(each.id(), queue, each.version());
      entry.restore(each);
      each.reservation()
          .ifPresent(
              reservation ->
                  quotaAccounting.restore(
                      entry,
                      Reservation.restored(
                          entry.id, entry.localQueue.id, reservation, specRegistry.topologies)));
    }
  }

  /** Takes over the Workloads in queues, and then what happens to Workloads at some time. */
  void restoreQueues(EngineState state) {
    for (EngineState.ClusterQueueExport exported : state.clusterQueues()) {
      ClusterQueueState queue = specRegistry.clusterQueue(exported.name());
      queue.pending.restore(
          exported.pending(), id -> specRegistry.localQueue(id).id, queue.cache, this::queued);
      exported
          .pending()
          .preemptor()
          .ifPresent(id -> queuesOfPreemptor(id.uid()).add(exported.name()));
    }
    for (EngineState.LocalQueueExport exported : state.localQueues()) {
      LocalQueueState queue = specRegistry.localQueue(exported.id());
      exported.unqueued().forEach(uid -> queue.unqueued.add(known(uid)));
    }
    EngineState.WorkloadsExport exported = state.workloads();
    exported.timers().forEach(timer -> backoffTimers.restore(timer, known(timer.uid())));
    slices.restore(exported.slices(), exported.replacements(), this::known);
    exported.secondPasses().forEach(each -> secondPasses.restore(each, known(each.uid())));
    exported.unreported().forEach(uid -> unreportedExplanations.add(known(uid)));
  }

  private void queued(QueuedWorkload item) {
    WorkloadEntry entry = entries.get(item.id().uid());
    if (entry == null) {
      entry = create(item.id(), item.localQueue(), item.version());
    }
    entry.item = item;
  }

  private WorkloadEntry known(String uid) {
    WorkloadEntry entry = entries.get(uid);
    if (entry == null) {
      throw new IllegalStateException("the state names a Workload " + uid + " that it lacks");
    }
    return entry;
  }

  /** Compares what budgets count with who holds quota. */
  void compare(BudgetKeeper keeper) {
    keeper.compare(entries.values());
  }

  @Nullable WorkloadEntry find(String uid) {
    return entries.get(uid);
  }

  /**
   * Enqueues the Workloads whose back-off is over.
   *
   * @param enqueuedIn receives the name of the ClusterQueue of each of them
   */
  void timePassed(Instant instant, Consumer<String> enqueuedIn) {
    now = instant;
    for (WorkloadEntry entry : backoffTimers.due(instant)) {
      PendingWorkload retained = entry.retained;
      if (entry.stage == Stage.PENDING && retained != null) {
        enqueue(entry, retained, entry.item);
        enqueuedIn.accept(entry.localQueue.clusterQueue());
      }
    }
  }

  /** When the first backoff ends; {@link Instant#MAX} if there is none. */
  Instant nextBackoff() {
    return backoffTimers.next();
  }

  void pending(PendingWorkload reported) {
    PendingWorkload workload = withoutPastBackOff(reported);
    WorkloadEntry entry = entry(workload.id(), workload.localQueue(), workload.version());
    if (entry == null || (entry.stage != Stage.PENDING && workload.version() <= entry.version)) {
      return;
    }
    QueuedWorkload item = entry.item;
    PendingWorkload retained = entry.retained;
    if (retained != null && withoutPastBackOff(retained).equals(workload)) {
      return;
    }
    entry.version = workload.version();
    if (item != null && retained == null && isUnchanged(item, workload)) {
      item.version(workload.version());
      return;
    }
    if (item != null && asksForSomethingElse(item, workload)) {
      waiting.begunAnew(workload.id());
    }
    withdraw(entry);
    setSlice(entry, workload.shape().slice());
    enqueue(entry, workload, item);
    requeueReplacement(entry);
  }

  private PendingWorkload withoutPastBackOff(PendingWorkload workload) {
    return workload.notBefore().isEmpty() || workload.notBefore().get().isAfter(now)
        ? workload
        : workload.withoutBackoff();
  }

  private static boolean isUnchanged(QueuedWorkload item, PendingWorkload workload) {
    return !workload.held()
        && workload.notBefore().isEmpty()
        && workload.defect().equals(item.defect())
        && workload.gated() == item.gated()
        && workload.evictable() == item.evictable()
        && workload.history().equals(item.history())
        && item.queuedAt().equals(workload.queuedAt())
        && !asksForSomethingElse(item, workload);
  }

  private static boolean asksForSomethingElse(QueuedWorkload item, PendingWorkload workload) {
    return item.equivalenceClass().priority() != workload.priority()
        || !item.equivalenceClass().shape().replacing(Optional.empty()).equals(workload.shape());
  }

  void reserving(ReservingWorkload workload) {
    WorkloadEntry entry = entry(workload.id(), workload.localQueue(), workload.version());
    if (entry == null) {
      return;
    }
    leaveQueue(entry);
    boolean assumed = entry.stage == Stage.ASSUMED;
    if (assumed && workload.version() <= entry.version) {
      return;
    }
    entry.version = workload.version();
    entry.stage = Stage.RESERVING;
    entry.retained = null;
    if (workload.evicted()) {
      entry.evictionDecided = WorkloadEntry.NO_VERSION;
    }
    boolean evicting = entry.evictionDecided != WorkloadEntry.NO_VERSION;
    setSlice(entry, workload.slice());
    ofClasses |= !workload.protection().classRules().isNone();
    quotaAccounting.set(
        entry,
        Reservation.of(workload, evicting, specRegistry.pairs, specRegistry.topologies),
        false);
    budgets.written(entry.id.uid());
    secondPasses.set(entry, workload, now);
    usageLedger.confirmed(entry, workload.admitted());
    requeueReplacement(entry);
  }

  /**
   * Records that the eviction of a Workload was decided.
   *
   * @return the version that the decision is based on
   */
  long evict(WorkloadId id) {
    WorkloadEntry entry = entries.get(id.uid());
    Reservation reservation = entry == null ? null : entry.reservation;
    if (entry == null || reservation == null) {
      throw new IllegalStateException("Workload " + id + " is to be evicted but holds nothing");
    }
    entry.evictionDecided = entry.version;
    quotaAccounting.set(entry, reservation.evicting(true), true);
    evicted.add(entry);
    return entry.version;
  }

  void evictionRefused(WorkloadId id, long decided) {
    WorkloadEntry entry = entries.get(id.uid());
    Reservation reservation = entry == null ? null : entry.reservation;
    if (entry != null && reservation != null && entry.evictionDecided == decided) {
      entry.evictionDecided = WorkloadEntry.NO_VERSION;
      waiting.evictionRefused(id).ifPresent(this::preemptionFailed);
      quotaAccounting.set(entry, reservation.evicting(false), true);
      requeueReplacement(entry);
    }
  }

  /** A Workload whose preemption failed comes before others of its queue no more. */
  private void preemptionFailed(WaitingExport.PreemptionExport preemption) {
    ClusterQueueState queue = specRegistry.clusterQueues.get(preemption.clusterQueue());
    if (queue != null) {
      queue.pending.forget(preemption.preemptor());
    }
  }

  /**
   * A Workload neither waits nor has quota any more. A preemptor that isn't deleted may be back and
   * then comes first, as the quota was made free for it. An admission that is being written is
   * based on the version: it stays until that is refused.
   */
  void released(WorkloadId id, long version) {
    WorkloadEntry entry = entries.get(id.uid());
    if (entry != null
        && version >= entry.version
        && (entry.stage != Stage.ASSUMED || version != entry.version)) {
      withdraw(entry);
      dirtySet.touched(entry.localQueue.clusterQueue(), entry.localQueue.id);
      forget(entry);
    }
    if (version == Long.MAX_VALUE) {
      forgetPreemptor(id);
    }
  }

  /** Makes a Workload the first of its queue, until it is deleted or its preemption fails. */
  void preempts(QueuedWorkload item, ClusterQueueCache queue) {
    queue.pending().markSticky(item);
    queuesOfPreemptor(item.id().uid()).add(queue.name());
  }

  private Set<String> queuesOfPreemptor(String uid) {
    return preemptors.computeIfAbsent(uid, any -> new TreeSet<>());
  }

  /** It may be away, or in another queue than the one that it preempted in. */
  private void forgetPreemptor(WorkloadId id) {
    waiting.begunAnew(id);
    Set<String> names = preemptors.remove(id.uid());
    for (String name : names == null ? Set.<String>of() : names) {
      ClusterQueueState queue = specRegistry.clusterQueues.get(name);
      if (queue != null) {
        queue.pending.forget(id.uid());
      }
    }
  }

  private void forget(WorkloadEntry entry) {
    List<WorkloadEntry> later = slices.laterThan(entry);
    List<WorkloadEntry> siblings = slices.siblings(entry);
    slices.forget(entry);
    shareAnew(later);
    siblings.forEach(this::requeue);
    unreportedExplanations.forget(entry);
    entries.remove(entry.id.uid());
    entry.localQueue.workloads--;
    specRegistry.forgetIfUnused(entry.localQueue);
  }

  /**
   * Moves a queued Workload to its reservation, which the usage of the quota tree contains already.
   */
  void assume(QueuedWorkload item, Reservation reservation) {
    WorkloadEntry entry = entryOf(item);
    waiting.forget(item);
    item.equivalenceClass().queue().remove(item);
    entry.item = null;
    entry.retained = toPendingWorkload(item, Optional.empty());
    entry.stage = Stage.ASSUMED;
    quotaAccounting.set(entry, reservation, true);
    if (entry.slice != null && entry.slice.variant().isPresent()) {
      nominated.add(entry);
    }
    budgets.starts(entry.id.uid(), item.equivalenceClass().shape().run());
    usageLedger.quotaReserved(entry, Objects.requireNonNull(entry.reservation));
  }

  void written(WorkloadId id, long version, boolean admitted) {
    WorkloadEntry entry = entries.get(id.uid());
    if (entry == null || entry.stage != Stage.ASSUMED || version <= entry.version) {
      return;
    }
    entry.version = version;
    entry.stage = Stage.RESERVING;
    entry.retained = null;
    budgets.written(entry.id.uid());
    Reservation reservation = entry.reservation;
    if (reservation != null) {
      quotaAccounting.set(
          entry, admitted ? reservation.asAdmitted() : reservation.withoutPods(), true);
      usageLedger.confirmed(entry, admitted);
    }
    requeueReplacement(entry);
  }

  void refused(WorkloadId id, long decided, boolean superseded) {
    WorkloadEntry entry = entries.get(id.uid());
    PendingWorkload retained = entry == null ? null : entry.retained;
    if (entry == null
        || retained == null
        || entry.stage != Stage.ASSUMED
        || entry.version != decided) {
      return;
    }
    budgets.refused(entry.id.uid());
    quotaAccounting.set(entry, null, false);
    usageLedger.quotaReleased(entry);
    entry.evictionDecided = WorkloadEntry.NO_VERSION;
    entry.stage = Stage.PENDING;
    entry.refusalBackoffUntil = superseded ? Instant.MAX : now.plus(REFUSAL_BACKOFF);
    enqueue(entry, retained, null);
    requeueReplacement(entry);
  }

  /** Records what a Workload says of itself; those that it shared quota with are charged anew. */
  private void setSlice(WorkloadEntry entry, Optional<JobSlice> slice) {
    if (slices.isKnown(entry, slice)) {
      return;
    }
    if (entry.reservation != null) {
      quotaAccounting.set(entry, null, false);
    }
    List<WorkloadEntry> former = slices.laterThan(entry);
    List<WorkloadEntry> siblings = slices.siblings(entry);
    slices.known(entry, slice);
    shareAnew(former);
    siblings.forEach(this::requeue);
    shareAnew(slices.laterThan(entry));
  }

  /**
   * Charges slices anew, or enqueues them again, after one that they follow has changed: it may
   * have closed or opened a circle.
   */
  private void shareAnew(List<WorkloadEntry> chain) {
    chain.forEach(quotaAccounting::chargeAgain);
    chain.forEach(this::requeue);
  }

  /**
   * Ends a cycle: replacements of slices whose eviction was decided in it have to wait, and so do
   * other variants of requests that got quota in it.
   */
  void cycleEnded() {
    evicted.forEach(this::requeueReplacement);
    evicted.clear();
    nominated.forEach(this::requeueReplacement);
    nominated.clear();
  }

  /** The variants with quota that a queued Workload takes the place of when it fits. */
  List<PreemptionTarget> movesFrom(QueuedWorkload item) {
    List<PreemptionTarget> targets = new ArrayList<>();
    for (WorkloadEntry other : slices.movesFrom(entryOf(item))) {
      Reservation held = other.reservation;
      ClusterQueueCache queue = held == null ? null : specRegistry.cacheOf(held.clusterQueue());
      if (held != null && queue != null) {
        targets.add(
            new PreemptionTarget(held.quotaHolder(), queue, PreemptionReason.FLAVOR_MIGRATION));
      }
    }
    return targets;
  }

  /**
   * Enqueues the replacement of a slice, or the other variants of a request, again if they wait,
   * since the slice or the variant has changed.
   */
  void requeueReplacement(WorkloadEntry entry) {
    requeue(slices.replacementOf(entry));
    slices.siblings(entry).forEach(this::requeue);
  }

  private void requeue(@Nullable WorkloadEntry entry) {
    if (entry == null || entry.stage != Stage.PENDING) {
      return;
    }
    PendingWorkload retained = entry.retained;
    QueuedWorkload item = entry.item;
    if (retained != null) {
      enqueue(entry, retained, item);
    } else if (item != null) {
      PendingWorkload workload = toPendingWorkload(item, Optional.empty());
      if (slices.mustWait(entry) || !slices.isQueuedAs(entry, workload, item)) {
        enqueue(entry, workload, item);
      }
    }
  }

  /**
   * Enqueues a Workload, or keeps it outside the queues if there is no queue for it.
   *
   * @param before the previous item of the Workload in its queue; null if there was none
   */
  private void enqueue(
      WorkloadEntry entry, PendingWorkload workload, @Nullable QueuedWorkload before) {
    leaveQueue(entry);
    ofClasses |= !workload.shape().preemption().isNone();
    entry.stage = Stage.PENDING;
    entry.retained = null;
    LocalQueueState localQueue = entry.localQueue;
    ClusterQueueCache queue = specRegistry.cacheOf(localQueue.clusterQueue());
    dirtySet.touched(localQueue.clusterQueue(), localQueue.id);
    if (queue == null || localQueue.stopped()) {
      entry.retained = workload;
      localQueue.unqueued.add(entry);
      unreportedExplanations.add(entry);
      return;
    }
    QueuedWorkload item =
        queue.pending().add(slices.queued(entry, workload, queue.name()), localQueue.id, before);
    entry.item = item;
    preemptionChanges(item, queue);
    Instant until = backoffUntil(entry, workload);
    if (workload.held() || until.isAfter(now) || slices.mustWait(entry)) {
      entry.retained = workload;
      queue.pending().hold(item, null);
      if (until.isAfter(now) && until.isBefore(Instant.MAX)) {
        backoffTimers.set(until, entry);
      }
    } else {
      unreportedExplanations.add(item, entry);
      waiting.activate(queue);
    }
    if (!specRegistry.clusterQueue(queue.name()).active()) {
      unreportedExplanations.add(entry);
    }
  }

  private void preemptionChanges(QueuedWorkload item, ClusterQueueCache queue) {
    waiting.preemptionChangesAt(
        item.id(),
        queue.name(),
        queue.mayPreempt()
            ? item.preemptsFromMicros(queue.node().preemptionRules())
            : Long.MIN_VALUE,
        Long.MIN_VALUE);
  }

  /**
   * Finds out anew when Workloads become preemption targets, or may preempt, after specs changed.
   *
   * @param ofQueues whether ClusterQueues or Cohorts have rules of preemption, or had them
   */
  void specsChanged(boolean ofQueues) {
    if (!ofQueues && !ofClasses) {
      return;
    }
    ofClasses = false;
    for (WorkloadEntry entry : entries.values()) {
      ClusterQueueCache queue = specRegistry.cacheOf(entry.localQueue.clusterQueue());
      QueuedWorkload item = entry.item;
      if (item != null && queue != null) {
        preemptionChanges(item, queue);
      } else {
        quotaAccounting.preemptionChanges(entry, entry.reservation);
      }
      ofClasses |= hasClassRules(entry);
    }
  }

  private static boolean hasClassRules(WorkloadEntry entry) {
    QueuedWorkload item = entry.item;
    Reservation reservation = entry.reservation;
    return (item != null && !item.equivalenceClass().shape().preemption().isNone())
        || (reservation != null && !reservation.quotaHolder().protection().classRules().isNone());
  }

  private static Instant backoffUntil(WorkloadEntry entry, PendingWorkload workload) {
    Instant own = workload.notBefore().orElse(Instant.MIN);
    Instant refusalBackoff = entry.refusalBackoffUntil;
    return refusalBackoff != null && refusalBackoff.isAfter(own) ? refusalBackoff : own;
  }

  /** Removes a Workload from its queue, and releases its reservation. */
  private void withdraw(WorkloadEntry entry) {
    leaveQueue(entry);
    entry.localQueue.unqueued.remove(entry);
    if (entry.reservation != null) {
      quotaAccounting.set(entry, null, false);
      usageLedger.quotaReleased(entry);
    }
    secondPasses.remove(entry);
    entry.evictionDecided = WorkloadEntry.NO_VERSION;
    entry.stage = Stage.PENDING;
    entry.retained = null;
    entry.refusalBackoffUntil = null;
  }

  private void leaveQueue(WorkloadEntry entry) {
    QueuedWorkload item = entry.item;
    if (item != null) {
      waiting.forget(item);
      waiting.preemptionChangesAt(entry.id, "", Long.MIN_VALUE, Long.MIN_VALUE);
      item.equivalenceClass().queue().remove(item);
      entry.item = null;
      dirtySet.touched(entry.localQueue.clusterQueue(), entry.localQueue.id);
      ClusterQueueCache queue = specRegistry.cacheOf(entry.localQueue.clusterQueue());
      if (queue != null) {
        waiting.activate(queue);
      }
    }
    entry.localQueue.unqueued.remove(entry);
  }

  /**
   * Enqueues all Workloads of a LocalQueue again after its ClusterQueue was created, deleted or
   * replaced, or the LocalQueue was stopped or resumed.
   */
  void requeueAll(LocalQueueState localQueue, @Nullable ClusterQueueState former) {
    for (WorkloadEntry entry : localQueue.unqueued.toArray(WorkloadEntry[]::new)) {
      PendingWorkload retained = entry.retained;
      if (retained != null) {
        enqueue(entry, retained, null);
      }
    }
    if (former == null || isFedInto(localQueue, former)) {
      return;
    }
    for (QueuedWorkload item : former.pending.inOrder()) {
      if (item.localQueue().equals(localQueue.id)) {
        WorkloadEntry entry = entryOf(item);
        PendingWorkload retained = entry.retained;
        PendingWorkload workload =
            retained != null ? retained : toPendingWorkload(item, Optional.empty());
        enqueue(entry, workload, item);
      }
    }
    dirtySet.clusterQueues.add(former.name);
    if (former.cache != null) {
      waiting.activate(former.cache);
    }
  }

  private static boolean isFedInto(LocalQueueState localQueue, ClusterQueueState queue) {
    return queue.cache != null
        && !localQueue.stopped()
        && localQueue.clusterQueue().equals(queue.name);
  }

  WorkloadEntry entryOf(QueuedWorkload item) {
    WorkloadEntry entry = entries.get(item.id().uid());
    if (entry == null) {
      throw new IllegalStateException("Workload " + item.id() + " is queued but not known");
    }
    return entry;
  }

  /**
   * The entry for an event, in the event's LocalQueue; null if the event is older than the known
   * version.
   */
  private @Nullable WorkloadEntry entry(WorkloadId id, LocalQueueId queue, long version) {
    WorkloadEntry entry = entries.get(id.uid());
    if (entry != null && version < entry.version) {
      return null;
    }
    if (entry != null && !entry.localQueue.id.equals(queue)) {
      withdraw(entry);
      forget(entry);
      entry = null;
    }
    if (entry == null) {
      waiting.begunAnew(id);
      entry = create(id, queue, version);
    }
    return entry;
  }

  private WorkloadEntry create(WorkloadId id, LocalQueueId queue, long version) {
    WorkloadEntry entry = new WorkloadEntry(id, specRegistry.localQueue(queue));
    entry.version = version;
    entry.localQueue.workloads++;
    entries.put(id.uid(), entry);
    return entry;
  }

  private static PendingWorkload toPendingWorkload(
      QueuedWorkload item, Optional<Instant> notBefore) {
    return new PendingWorkload(
        item.id(),
        item.version(),
        item.localQueue().name(),
        item.equivalenceClass().shape().replacing(Optional.empty()),
        item.equivalenceClass().priority(),
        item.createdAt(),
        item.queuedAt(),
        notBefore,
        false,
        item.defect(),
        item.gated(),
        item.evictable(),
        item.history());
  }
}
