package dev.sluice.checks.multikueue.placement;

import dev.sluice.api.KueueConstants;
import java.time.Instant;
import java.util.Optional;

/**
 * State of a Workload in one worker.
 *
 * @param connected whether the worker is connected; otherwise the rest is the last known state
 * @param lostSince since when the worker is lost
 * @param copy the remote Workload, if it exists
 * @param sentBackAt when the Workload was sent back from here, if the worker can't be reached and
 *     it isn't known that the job has stopped
 */
public record WorkerState(
    boolean connected,
    Optional<Instant> lostSince,
    Optional<Copy> copy,
    Optional<Instant> sentBackAt) {

  /** Creates the state in a worker that the Workload wasn't sent back from. */
  public WorkerState(boolean connected, Optional<Instant> lostSince, Optional<Copy> copy) {
    this(connected, lostSince, copy, Optional.empty());
  }

  /**
   * A remote Workload.
   *
   * @param finished how it finished, if it did
   * @param evictedAt since when it is evicted, if it is
   * @param admittedAt since when it is admitted, if it is
   * @param difference how its spec differs from the manager's
   * @param tells the worker's message about it, for users
   * @param gate its preemption gate, if it has the manager's gate
   */
  public record Copy(
      Optional<Ending> finished,
      Optional<Instant> evictedAt,
      Optional<Instant> admittedAt,
      Difference difference,
      String tells,
      Optional<Gate> gate) {

    /**
     * Whether the job of a copy that was seen like this may run: it was started, and didn't end.
     */
    public boolean mayRun() {
      return difference != Difference.OTHER_WORKLOAD
          && finished.isEmpty()
          && (admittedAt.isPresent() || evictedAt.isPresent());
    }

    /** Creates a remote Workload without a gate. */
    public Copy(
        Optional<Ending> finished,
        Optional<Instant> evictedAt,
        Optional<Instant> admittedAt,
        Difference difference,
        String tells) {
      this(finished, evictedAt, admittedAt, difference, tells, Optional.empty());
    }

    /** Creates a remote Workload without a gate and without a message. */
    public Copy(
        Optional<Ending> finished,
        Optional<Instant> evictedAt,
        Optional<Instant> admittedAt,
        Difference difference) {
      this(finished, evictedAt, admittedAt, difference, "");
    }
  }

  /**
   * The gate that keeps a worker from preempting for a remote Workload.
   *
   * @param blockedAt since when the worker reports that it would have to preempt, if it does
   * @param openedAt since when the gate is open, if it is
   */
  public record Gate(Optional<Instant> blockedAt, Optional<Instant> openedAt) {}

  /** The condition {@code Finished}. */
  public record Ending(String reason, String message) {

    /** Reason of a remote Workload that no longer matches the remote job. */
    static final String OUT_OF_SYNC = "OutOfSync";

    boolean outOfSync() {
      return reason.equals(OUT_OF_SYNC);
    }

    boolean ownerNotFound() {
      return reason.equals(KueueConstants.OWNER_NOT_FOUND);
    }

    /** Whether the job never ran to an end: manager and worker don't have the same job. */
    boolean failedSync() {
      return outOfSync() || ownerNotFound();
    }
  }

  /** How two specs differ; preemption gates are ignored. */
  public enum Difference {
    /** The specs are equal. */
    NONE,
    /**
     * The specs differ in fields that a patch can change: the priority, or fewer pods of an elastic
     * job.
     */
    PATCHABLE,
    /** The specs differ in other fields. */
    OTHER,
    /** The copy was made for another Workload of this name, which the manager had before. */
    OTHER_WORKLOAD
  }
}
