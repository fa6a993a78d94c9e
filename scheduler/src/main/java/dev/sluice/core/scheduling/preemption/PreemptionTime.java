package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.Instants;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.waiting.RepeatedPreemptions;
import dev.sluice.core.waiting.WaitingWorkloads;
import java.time.Instant;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The time of a cycle, as far as rules of preemption depend on it.
 *
 * @param nowMicros the time, in microseconds since the epoch
 * @param waits finds the roots of the trees in which a rule protects or delays a Workload at that
 *     time
 * @param repeatedPreemptions who preempted whom lately
 */
public record PreemptionTime(
    long nowMicros, Supplier<Set<QuotaNode>> waits, RepeatedPreemptions repeatedPreemptions) {

  /** The time of a cycle. */
  public static PreemptionTime of(Instant now, WaitingWorkloads waiting) {
    return new PreemptionTime(
        Instants.micros(now), waiting::preemptionWaits, waiting.repeatedPreemptions());
  }
}
