package dev.sluice.app.module;

import dev.sluice.api.queueing.CheckpointAnnotations;
import dev.sluice.api.sluice.ReservationReader.Kind;
import dev.sluice.app.module.SchedulingEventRecorder.WorkloadReference;
import dev.sluice.core.engine.SchedulerThread;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Overstay;
import dev.sluice.jobs.policy.WorkloadStatuses;
import dev.sluice.kube.events.EventRecorder.Type;
import dev.sluice.queues.ReservationCalendar;
import dev.sluice.queues.cache.ReservationTargets;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.status.CheckpointRequest;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reservations of capacity, as far as the cluster has their kinds (docs/reservations.md). */
final class ReservationModule implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ReservationModule.class);

  private final OperatorContext context;
  private final WorkloadModule workloads;
  private final ReservationCalendar calendar;
  private volatile Predicate<Map<String, String>> nodes = labels -> true;

  /** Connected to this engine; nothing is read yet. */
  ReservationModule(
      OperatorContext context,
      InformerModule informers,
      SchedulerThread schedulerThread,
      WorkloadModule workloads) {
    this.context = context;
    this.workloads = workloads;
    calendar =
        new ReservationCalendar(
            new ReservationCalendar.Connections(
                context.reflectors(),
                schedulerThread,
                schedulerThread::overstays,
                new ReservationTargets(informers.caches(), labels -> nodes.test(labels)),
                context.requests(1),
                context.leadership(),
                this::evict,
                context.events()),
            context.clock());
  }

  /** Says whether a node has all of these labels; true where that isn't known. */
  void findNodesBy(Predicate<Map<String, String>> known) {
    nodes = known;
  }

  /** Whether nothing is kept, now or later. */
  boolean isEmpty() {
    return calendar.isEmpty();
  }

  /** The objects that keep capacity now or later. */
  List<ReservationCalendar.Keeper> keepers() {
    return calendar.keepers();
  }

  /** Calls the listener when something is kept for the first time. */
  void onPresence(Runnable listener) {
    calendar.onPresence(listener);
  }

  /**
   * Begins to read both kinds. A cluster that doesn't have them yet, or an operator that may not
   * read them, starts nevertheless: they count from when both can be read.
   */
  void start(CacheSyncWaiter cacheSync) throws IOException {
    Optional<String> unreadable =
        context.unreadable(Arrays.stream(Kind.values()).map(Kind::plural).toList());
    CompletableFuture<Void> listed = calendar.start();
    if (unreadable.isPresent()) {
      LOG.warn("reservations=unread reason=\"{}\"", unreadable.get());
    } else {
      cacheSync.await("reservations", listed);
    }
  }

  private void evict(Overstay overstay) {
    boolean now = !overstay.from().isAfter(context.clock().instant());
    workloads
        .cache()
        .get(overstay.id())
        .ifPresent(
            workload -> {
              if (now) {
                workloads
                    .evictions()
                    .evict(workload, WorkloadStatuses.EVICTED_FOR_RESERVATION, overstay.message());
              } else {
                ask(workload, overstay);
              }
            });
  }

  /** Asks a job to save its work, unless it was asked for this start already. */
  private void ask(CachedWorkload workload, Overstay overstay) {
    Instant first = overstay.from().minus(overstay.grace()).truncatedTo(ChronoUnit.SECONDS);
    if (!workload.quotaReserved()
        || CheckpointRequest.of(workload).filter(at -> !at.isBefore(first)).isPresent()) {
      return;
    }
    var unused =
        workloads
            .writer()
            .patch(
                workload.id(),
                workload.version(),
                CheckpointRequest.asking(context.clock().instant()))
            .thenAccept(
                outcome -> {
                  if (outcome instanceof Outcome.Written) {
                    recordRequest(workload, overstay);
                  }
                });
  }

  private void recordRequest(CachedWorkload workload, Overstay overstay) {
    context
        .events()
        .record(
            WorkloadReference.of(workload.id()),
            Type.NORMAL,
            "CheckpointRequested",
            "Checkpoint",
            "Asked to save its work by "
                + overstay.from()
                + ", because "
                + overstay.keeper()
                + " begins then ("
                + CheckpointAnnotations.REQUESTED_AT
                + ")");
  }

  @Override
  public void close() {
    calendar.close();
  }
}
