package dev.sluice.core.engine;

import dev.sluice.core.engine.WorkloadEntry.Stage;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PendingWorkload;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Every Workload the engine knows, and where it stands. Facts carry versions: one that is older
 * than what is known is let pass. Since an admission is written with the version that was looked at
 * as its guard, any later version tells for sure whether it was written.
 */
final class WorkloadTable {

  /** How long a Workload rests whose admission the API server refused. */
  static final Duration REST_AFTER_REFUSAL = Duration.ofSeconds(10);

  private final SpecRegistry specRegistry;
  private final QuotaAccounting quotaAccounting;
  private final DirtySet dirtySet;
  private final UnreportedExplanations unreportedExplanations;
  private final ActiveQueues activeQueues;
  private final UsageLedger usageLedger;
  private final BackoffTimers backoffTimers = new BackoffTimers();
  private final Map<String, WorkloadEntry> entries = new HashMap<>();
  private Instant now = Instant.EPOCH;

  WorkloadTable(
      SpecRegistry specRegistry,
      QuotaAccounting quotaAccounting,
      DirtySet dirtySet,
      UnreportedExplanations unreportedExplanations,
      ActiveQueues activeQueues,
      UsageLedger usageLedger) {
    this.specRegistry = specRegistry;
    this.quotaAccounting = quotaAccounting;
    this.dirtySet = dirtySet;
    this.unreportedExplanations = unreportedExplanations;
    this.activeQueues = activeQueues;
    this.usageLedger = usageLedger;
  }

  @Nullable WorkloadEntry find(String uid) {
    return entries.get(uid);
  }

  int size() {
    return entries.size();
  }

  void timePassed(Instant instant) {
    now = instant;
    for (WorkloadEntry entry : backoffTimers.due(instant)) {
      PendingWorkload kept = entry.kept;
      if (entry.stage == Stage.PENDING && kept != null) {
        place(entry, kept, entry.item);
      }
    }
  }

  void pending(PendingWorkload heard) {
    PendingWorkload workload = withoutPastBackOff(heard);
    WorkloadEntry entry = entry(workload.id(), workload.localQueue(), workload.version());
    if (entry == null || (entry.stage != Stage.PENDING && workload.version() <= entry.version)) {
      return;
    }
    QueuedWorkload item = entry.item;
    PendingWorkload kept = entry.kept;
    if (kept != null && withoutPastBackOff(kept).equals(workload)) {
      return;
    }
    entry.version = workload.version();
    if (item != null && kept == null && isPlainly(item, workload)) {
      item.version(workload.version());
      return;
    }
    withdraw(entry);
    place(entry, workload, item);
  }

  private PendingWorkload withoutPastBackOff(PendingWorkload workload) {
    return workload.notBefore().isEmpty() || workload.notBefore().get().isAfter(now)
        ? workload
        : new PendingWorkload(
            workload.id(),
            workload.version(),
            workload.queueName(),
            workload.shape(),
            workload.priority(),
            workload.createdAt(),
            workload.queuedAt(),
            Optional.empty(),
            workload.held(),
            workload.defect(),
            workload.gated());
  }

  private static boolean isPlainly(QueuedWorkload item, PendingWorkload workload) {
    return !workload.held()
        && workload.notBefore().isEmpty()
        && workload.defect().equals(item.defect())
        && workload.gated() == item.gated()
        && item.equivalenceClass().priority() == workload.priority()
        && item.queuedAt().equals(workload.queuedAt())
        && item.equivalenceClass().shape().equals(workload.shape());
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
    entry.kept = null;
    if (workload.evicted()) {
      entry.evictionDecided = WorkloadEntry.NONE;
    }
    boolean evicting = entry.evictionDecided != WorkloadEntry.NONE;
    quotaAccounting.set(entry, Reservation.of(workload, evicting, specRegistry.pairs), false);
    if (workload.admitted()) {
      usageLedger.admitted(entry);
    }
  }

  /**
   * Its eviction is decided: from now on it counts as being evicted.
   *
   * @return the version that was looked at
   */
  long evict(WorkloadId id) {
    WorkloadEntry entry = entries.get(id.uid());
    Reservation reservation = entry == null ? null : entry.reservation;
    if (entry == null || reservation == null) {
      throw new IllegalStateException("Workload " + id + " is to be evicted but holds nothing");
    }
    entry.evictionDecided = entry.version;
    quotaAccounting.set(entry, reservation.evicting(true), true);
    return entry.version;
  }

  void evictionRefused(WorkloadId id, long decided) {
    WorkloadEntry entry = entries.get(id.uid());
    Reservation reservation = entry == null ? null : entry.reservation;
    if (entry != null && reservation != null && entry.evictionDecided == decided) {
      entry.evictionDecided = WorkloadEntry.NONE;
      quotaAccounting.set(entry, reservation.evicting(false), true);
    }
  }

  void released(WorkloadId id, long version) {
    WorkloadEntry entry = entries.get(id.uid());
    if (entry == null || version < entry.version) {
      return;
    }
    withdraw(entry);
    entries.remove(id.uid());
    ClusterQueueState queue = specRegistry.clusterQueues.get(entry.localQueue.clusterQueue());
    if (queue != null) {
      queue.pending.forget(id);
    }
    dirtySet.touched(entry.localQueue.clusterQueue(), entry.localQueue.id);
  }

  /** The head of a queue was given quota, which the tree has already. */
  void assume(QueuedWorkload item, Reservation reservation) {
    WorkloadEntry entry = known(item);
    item.equivalenceClass().queue().remove(item);
    entry.item = null;
    entry.kept = workload(item, Optional.empty());
    entry.stage = Stage.ASSUMED;
    quotaAccounting.set(entry, reservation, true);
    usageLedger.entered(entry, reservation);
  }

  void written(WorkloadId id, long version, boolean admitted) {
    WorkloadEntry entry = entries.get(id.uid());
    if (entry == null || entry.stage != Stage.ASSUMED || version <= entry.version) {
      return;
    }
    entry.version = version;
    entry.stage = Stage.RESERVING;
    entry.kept = null;
    Reservation reservation = entry.reservation;
    if (reservation != null && admitted) {
      quotaAccounting.set(entry, reservation.asAdmitted(), true);
      usageLedger.admitted(entry);
    } else if (reservation != null) {
      quotaAccounting.set(entry, reservation.withoutPods(), true);
    }
  }

  void refused(WorkloadId id, long decided, boolean superseded) {
    WorkloadEntry entry = entries.get(id.uid());
    PendingWorkload kept = entry == null ? null : entry.kept;
    if (entry == null || kept == null || entry.stage != Stage.ASSUMED || entry.version != decided) {
      return;
    }
    quotaAccounting.set(entry, null, false);
    usageLedger.left(entry);
    entry.evictionDecided = WorkloadEntry.NONE;
    entry.stage = Stage.PENDING;
    entry.restsUntil = superseded ? Instant.MAX : now.plus(REST_AFTER_REFUSAL);
    place(entry, kept, null);
  }

  /**
   * Puts a Workload where it belongs, as queues stand now.
   *
   * @param before what stood for it in its queue until now, if anything
   */
  private void place(
      WorkloadEntry entry, PendingWorkload workload, @Nullable QueuedWorkload before) {
    leaveQueue(entry);
    entry.stage = Stage.PENDING;
    entry.kept = null;
    LocalQueueState localQueue = entry.localQueue;
    ClusterQueueCache queue = specRegistry.queueState(localQueue.clusterQueue());
    dirtySet.touched(localQueue.clusterQueue(), localQueue.id);
    if (queue == null || localQueue.stopped()) {
      entry.kept = workload;
      localQueue.keptOut.add(entry);
      unreportedExplanations.add(entry);
      return;
    }
    QueuedWorkload item = queue.pending().add(workload, localQueue.id, before);
    entry.item = item;
    Instant until = backoffUntil(entry, workload);
    if (workload.held() || until.isAfter(now)) {
      entry.kept = workload;
      queue.pending().hold(item, null);
      if (until.isAfter(now) && until.isBefore(Instant.MAX)) {
        backoffTimers.set(until, entry);
      }
    } else {
      unreportedExplanations.add(item, entry);
      activeQueues.add(queue);
    }
    if (!specRegistry.clusterQueue(queue.name()).active()) {
      unreportedExplanations.add(entry);
    }
  }

  private static Instant backoffUntil(WorkloadEntry entry, PendingWorkload workload) {
    Instant own = workload.notBefore().orElse(Instant.MIN);
    Instant rest = entry.restsUntil;
    return rest != null && rest.isAfter(own) ? rest : own;
  }

  /** Takes a Workload from wherever it stands; what it held is given back. */
  private void withdraw(WorkloadEntry entry) {
    leaveQueue(entry);
    entry.localQueue.keptOut.remove(entry);
    if (entry.reservation != null) {
      quotaAccounting.set(entry, null, false);
      usageLedger.left(entry);
    }
    entry.evictionDecided = WorkloadEntry.NONE;
    entry.stage = Stage.PENDING;
    entry.kept = null;
    entry.restsUntil = null;
  }

  private void leaveQueue(WorkloadEntry entry) {
    QueuedWorkload item = entry.item;
    if (item != null) {
      item.equivalenceClass().queue().remove(item);
      entry.item = null;
      dirtySet.touched(entry.localQueue.clusterQueue(), entry.localQueue.id);
      ClusterQueueCache queue = specRegistry.queueState(entry.localQueue.clusterQueue());
      if (queue != null) {
        activeQueues.add(queue);
      }
    }
    entry.localQueue.keptOut.remove(entry);
  }

  /** Places everyone of a LocalQueue anew: its ClusterQueue came, went, or it was (un)stopped. */
  void replaceAll(LocalQueueState localQueue, @Nullable ClusterQueueState former) {
    for (WorkloadEntry entry : localQueue.keptOut.toArray(WorkloadEntry[]::new)) {
      PendingWorkload kept = entry.kept;
      if (kept != null) {
        place(entry, kept, null);
      }
    }
    if (former == null || belongs(localQueue, former)) {
      return;
    }
    for (QueuedWorkload item : former.pending.inOrder()) {
      if (item.localQueue().equals(localQueue.id)) {
        WorkloadEntry entry = known(item);
        PendingWorkload kept = entry.kept;
        PendingWorkload workload = kept != null ? kept : workload(item, Optional.empty());
        place(entry, workload, item);
      }
    }
    dirtySet.clusterQueues.add(former.name);
    if (former.state != null) {
      activeQueues.add(former.state);
    }
  }

  private static boolean belongs(LocalQueueState localQueue, ClusterQueueState queue) {
    return queue.state != null
        && !localQueue.stopped()
        && localQueue.clusterQueue().equals(queue.name);
  }

  WorkloadEntry known(QueuedWorkload item) {
    WorkloadEntry entry = entries.get(item.id().uid());
    if (entry == null) {
      throw new IllegalStateException("Workload " + item.id() + " is queued but not known");
    }
    return entry;
  }

  /** The entry a fact is about, in its LocalQueue; null if the fact is older than what is known. */
  private @Nullable WorkloadEntry entry(WorkloadId id, LocalQueueId queue, long version) {
    WorkloadEntry entry = entries.get(id.uid());
    if (entry != null && version < entry.version) {
      return null;
    }
    if (entry != null && !entry.localQueue.id.equals(queue)) {
      withdraw(entry);
      entries.remove(id.uid());
      entry = null;
    }
    if (entry == null) {
      entry = new WorkloadEntry(id, specRegistry.localQueue(queue));
      entry.version = version;
      entries.put(id.uid(), entry);
    }
    return entry;
  }

  private static PendingWorkload workload(QueuedWorkload item, Optional<Instant> notBefore) {
    return new PendingWorkload(
        item.id(),
        item.version(),
        item.localQueue().name(),
        item.equivalenceClass().shape(),
        item.equivalenceClass().priority(),
        item.createdAt(),
        item.queuedAt(),
        notBefore,
        false,
        item.defect(),
        item.gated());
  }
}
