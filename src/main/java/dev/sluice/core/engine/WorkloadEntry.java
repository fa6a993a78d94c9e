package dev.sluice.core.engine;

import dev.sluice.core.model.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.QueuedWorkload;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What the engine knows of one Workload. It is pending (in a queue, or kept outside of one), or
 * decided for and not confirmed yet, or holds quota as the API server says.
 */
final class WorkloadEntry {

  /** Where it stands. */
  enum Stage {
    /** Waits: {@code item} if it is in a queue, {@code kept} if something keeps it out. */
    PENDING,
    /** Admission is decided and on its way: {@code reservation} and {@code kept} are set. */
    ASSUMED,
    /** The API server says it holds quota: {@code reservation} is set. */
    RESERVING
  }

  /** No version. */
  static final long NONE = -1;

  final WorkloadId id;
  final LocalQueueState localQueue;
  Stage stage = Stage.PENDING;
  long version;
  @Nullable QueuedWorkload item;
  @Nullable PendingWorkload kept;
  @Nullable Reservation reservation;

  /** The version in which its eviction was decided, while nobody says what became of that. */
  long evictionDecided = NONE;

  /** Until when it rests after its admission was refused, unless there is news of it. */
  @Nullable Instant restsUntil;

  WorkloadEntry(WorkloadId id, LocalQueueState localQueue) {
    this.id = id;
    this.localQueue = localQueue;
  }
}
