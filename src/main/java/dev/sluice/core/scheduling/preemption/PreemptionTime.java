package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.Instants;
import dev.sluice.core.quota.QuotaNode;
import java.time.Instant;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The time of a cycle, as far as rules of preemption depend on it.
 *
 * @param nowMicros the time, in microseconds since the epoch
 * @param waits finds the roots of the trees in which a rule protects or delays a Workload at that
 *     time
 */
public record PreemptionTime(long nowMicros, Supplier<Set<QuotaNode>> waits) {

  /** The time of a cycle. */
  public static PreemptionTime of(Instant now, Supplier<Set<QuotaNode>> waits) {
    return new PreemptionTime(Instants.micros(now), waits);
  }
}
