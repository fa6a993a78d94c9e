package dev.sluice.checks.multikueue.placement;

import java.time.Instant;
import java.util.Optional;

/**
 * How a Workload stands in one worker.
 *
 * @param connected whether the worker is connected; otherwise the rest is what was last seen
 * @param lostSince since when it isn't
 * @param copy its copy there, if there is one
 */
public record WorkerState(boolean connected, Optional<Instant> lostSince, Optional<Copy> copy) {

  /**
   * A copy of a Workload.
   *
   * @param finished how it ended, if it did
   * @param evictedAt since when it is sent back, if it is
   * @param admittedAt since when it is admitted, if it is
   * @param difference how its spec differs from the manager's
   * @param tells what the worker says of it, for people
   * @param gate its preemption gate, if it has ours
   */
  public record Copy(
      Optional<Ending> finished,
      Optional<Instant> evictedAt,
      Optional<Instant> admittedAt,
      Difference difference,
      String tells,
      Optional<Gate> gate) {

    /** One without a gate. */
    public Copy(
        Optional<Ending> finished,
        Optional<Instant> evictedAt,
        Optional<Instant> admittedAt,
        Difference difference,
        String tells) {
      this(finished, evictedAt, admittedAt, difference, tells, Optional.empty());
    }

    /** One of which nothing is told. */
    public Copy(
        Optional<Ending> finished,
        Optional<Instant> evictedAt,
        Optional<Instant> admittedAt,
        Difference difference) {
      this(finished, evictedAt, admittedAt, difference, "");
    }
  }

  /**
   * The gate that keeps a worker from preempting for a copy.
   *
   * @param blockedAt since when the worker says that it would preempt, if it does
   * @param openedAt since when the gate is open, if it is
   */
  public record Gate(Optional<Instant> blockedAt, Optional<Instant> openedAt) {}

  /** The condition {@code Finished}. */
  public record Ending(String reason, String message) {

    /** The worker's copy and the worker's job don't belong together any more. */
    static final String OUT_OF_SYNC = "OutOfSync";

    boolean outOfSync() {
      return reason.equals(OUT_OF_SYNC);
    }
  }

  /** How two specs differ, preemption gates apart. */
  public enum Difference {
    /** They don't. */
    NONE,
    /** In what can be brought there by a patch: a priority, or an elastic job's fewer pods. */
    PATCHABLE,
    /** In anything else. */
    OTHER
  }
}
