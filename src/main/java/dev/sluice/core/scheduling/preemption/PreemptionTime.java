package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.Instants;
import java.time.Instant;

/**
 * The time of a cycle, as far as rules of preemption depend on it.
 *
 * @param nowMicros the time, in microseconds since the epoch
 * @param waits whether a rule protects or delays any Workload at that time
 */
public record PreemptionTime(long nowMicros, boolean waits) {

  /** The time of a cycle. */
  public static PreemptionTime of(Instant now, boolean waits) {
    return new PreemptionTime(Instants.micros(now), waits);
  }
}
