package dev.sluice.forecast.play;

import dev.sluice.core.model.Decision;
import dev.sluice.core.model.WorkloadId;
import java.time.Instant;

/** Told what happens in a play, in order. */
public interface PlayListener {

  /** A Workload has arrived, and nothing was decided since. */
  default void arrived(WorkloadId id, Instant at) {}

  /**
   * A Workload was admitted, and runs.
   *
   * @param run how often it was admitted in this play, from 1 on
   */
  default void started(Decision.Admit admission, int run) {}

  /** A Workload has ended. */
  default void ended(WorkloadId id, Instant at) {}

  /**
   * A Workload that runs was preempted, or evicted for capacity that is kept for others; it is
   * pending again when its pods have stopped.
   *
   * @param reason the reason as the API spells it
   */
  default void preempted(WorkloadId id, String reason, Instant at) {}

  /** A Workload was taken away while it waited, or whatever it did. */
  default void left(WorkloadId id, Instant at) {}

  /** The quota of a Workload is free, if it had any: it has ended, or its pods have stopped. */
  default void released(WorkloadId id, Instant at) {}
}
