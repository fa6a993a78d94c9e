package dev.sluice.app.module;

import dev.sluice.api.ApiVersions;
import dev.sluice.api.sluice.ReservationReader.Kind;
import dev.sluice.core.engine.SchedulerThread;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Overstay;
import dev.sluice.jobs.policy.WorkloadStatuses;
import dev.sluice.queues.ReservationCalendar;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.status.Evictions;
import dev.sluice.workload.status.StatusPatch;
import dev.sluice.workload.writing.WorkloadWriter.Urgency;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reservations of capacity, as far as the cluster has their kinds (docs/reservations.md). */
final class ReservationModule implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ReservationModule.class);

  private final OperatorContext context;
  private final WorkloadModule workloads;
  private final ReservationCalendar calendar;

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
                name ->
                    informers
                        .caches()
                        .workloadPriorityClasses()
                        .find(name)
                        .map(each -> (long) each.getValue()),
                context.requests(1),
                context.leadership(),
                this::evict,
                context.events()),
            context.clock());
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
    Optional<String> unreadable = unreadable();
    CompletableFuture<Void> listed = calendar.start();
    if (unreadable.isPresent()) {
      LOG.warn("reservations=unread reason=\"{}\"", unreadable.get());
    } else {
      cacheSync.await("reservations", listed);
    }
  }

  private Optional<String> unreadable() {
    for (Kind kind : Kind.values()) {
      String path =
          "/apis/"
              + ApiVersions.SLUICE_GROUP
              + "/"
              + ApiVersions.SLUICE_VERSION
              + "/"
              + kind.plural();
      try {
        if (context.client().raw(path + "?limit=1") == null) {
          return Optional.of(path + " isn't there: its definition isn't installed");
        }
      } catch (KubernetesClientException e) {
        if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN) {
          return Optional.of("this operator may not list " + kind.plural());
        }
      }
    }
    return Optional.empty();
  }

  private void evict(Overstay overstay) {
    CachedWorkload workload = workloads.cache().get(overstay.id()).orElse(null);
    if (workload == null || !workload.quotaReserved() || workload.evicted()) {
      return;
    }
    Instant now = context.clock().instant();
    StatusPatch patch = StatusPatch.of(workload, now);
    Evictions.evict(
        patch, workload, now, WorkloadStatuses.EVICTED_FOR_RESERVATION, "", overstay.message());
    var unused =
        workloads
            .writer()
            .patchStatus(workload.id(), workload.version(), patch.build(), Urgency.DECISION);
  }

  @Override
  public void close() {
    calendar.close();
  }
}
