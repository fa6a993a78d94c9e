package dev.sluice.core.model;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What happened to a Workload that rules of preemption depend on.
 *
 * @param since for a Workload with quota, the time at which its pods were ready, or have to be at
 *     the latest while they aren't, or at which it was admitted where nobody watches them; empty if
 *     that is the time of the reservation. For a pending Workload, the time since which it waits
 *     after its last run, if that is later than its position in the queue
 * @param preemptedAt when it was preempted, as far as that is remembered; earliest first
 * @param checkpointedAt when its work was last saved, as its owner says; empty: never
 */
public record PreemptionHistory(
    Optional<Instant> since, List<Instant> preemptedAt, Optional<Instant> checkpointedAt) {

  /** A Workload without history. */
  public static final PreemptionHistory NONE = new PreemptionHistory(Optional.empty(), List.of());

  /** A history without a checkpoint. */
  public PreemptionHistory(Optional<Instant> since, List<Instant> preemptedAt) {
    this(since, preemptedAt, Optional.empty());
  }

  public PreemptionHistory {
    preemptedAt = List.copyOf(preemptedAt);
  }

  /** The same history of a Workload that gets quota now. */
  public PreemptionHistory reserving() {
    return since.isEmpty()
        ? this
        : new PreemptionHistory(Optional.empty(), preemptedAt, checkpointedAt);
  }
}
