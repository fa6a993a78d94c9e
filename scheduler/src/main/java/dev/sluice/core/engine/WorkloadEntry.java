package dev.sluice.core.engine;

import dev.sluice.core.engine.QuotaAccounting.Reservation;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.QueuedWorkload;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * State of one Workload in the engine. The Workload is pending (in a queue, or not), or its
 * admission was decided and is not confirmed yet, or it has quota reserved according to the API
 * server.
 */
final class WorkloadEntry {

  /** The stage of a Workload. */
  enum Stage {
    /**
     * The Workload is pending: {@code item} is set if it is in a queue, {@code retained} if it may
     * not be evaluated.
     */
    PENDING,
    /**
     * The admission is decided and not confirmed: {@code reservation} and {@code retained} are set.
     */
    ASSUMED,
    /** The API server reports reserved quota: {@code reservation} is set. */
    RESERVING
  }

  /** The absent version. */
  static final long NO_VERSION = -1;

  final WorkloadId id;
  final LocalQueueState localQueue;
  Stage stage = Stage.PENDING;
  long version;
  @Nullable QueuedWorkload item;
  @Nullable PendingWorkload retained;
  @Nullable Reservation reservation;

  /** What makes the Workload a slice of an elastic job; null for other Workloads. */
  @Nullable JobSlice slice;

  /** The version for which the eviction was decided, until the result of that eviction is known. */
  long evictionDecided = NO_VERSION;

  /** What the API server reports of a Workload that lacks places; null if it lacks none. */
  @Nullable ReservingWorkload lacking;

  /** The end of the backoff after a refused admission; null without such a backoff. */
  @Nullable Instant refusalBackoffUntil;

  WorkloadEntry(WorkloadId id, LocalQueueState localQueue) {
    this.id = id;
    this.localQueue = localQueue;
  }

  /** The Workload as a value, without its item in a queue. */
  WorkloadExport export() {
    return new WorkloadExport(
        id,
        localQueue.id.name(),
        version,
        Optional.ofNullable(retained),
        Optional.ofNullable(reservation).map(Reservation::export),
        new WorkloadExport.ResidueExport(
            Optional.ofNullable(slice),
            evictionDecided,
            Optional.ofNullable(lacking),
            Optional.ofNullable(refusalBackoffUntil)));
  }

  /** Whether the item in the queue says everything about the Workload. */
  boolean isKnownByItem() {
    QueuedWorkload queued = item;
    return queued != null
        && queued.version() == version
        && retained == null
        && reservation == null
        && slice == null
        && evictionDecided == NO_VERSION
        && lacking == null
        && refusalBackoffUntil == null;
  }

  /** Takes a state over, except for the reservation, into a new entry. */
  void restore(WorkloadExport exported) {
    version = exported.version();
    retained = exported.retained().orElse(null);
    if (exported.reservation().isPresent()) {
      stage = retained == null ? Stage.RESERVING : Stage.ASSUMED;
    }
    slice = exported.residue().slice().orElse(null);
    evictionDecided = exported.residue().evictionDecided();
    lacking = exported.residue().lacking().orElse(null);
    refusalBackoffUntil = exported.residue().refusalBackoffUntil().orElse(null);
  }
}
