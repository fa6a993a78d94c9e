package dev.sluice.core.scheduling;

import dev.sluice.core.model.CycleStatistics.TimedRule;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * What kept a Workload that needs preemption from finding targets, beside the policies.
 *
 * @param notEvictable whether targets were left out because nobody would stop their pods
 * @param firstTargetAt when the first Workload that a rule protects becomes a target; empty if none
 *     is protected
 * @param delayedUntil until when a rule delays the preemption; empty if none does
 * @param rules the rules that keep it from targets for some time
 */
record PreemptionObstacles(
    boolean notEvictable,
    Optional<Instant> firstTargetAt,
    Optional<Instant> delayedUntil,
    Set<TimedRule> rules) {

  /** Nothing but the policies. */
  static final PreemptionObstacles NONE =
      new PreemptionObstacles(false, Optional.empty(), Optional.empty(), Set.of());
}
