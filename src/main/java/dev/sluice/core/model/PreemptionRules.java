package dev.sluice.core.model;

import java.time.Duration;
import java.util.Optional;

/**
 * Rules of preemption beyond the fields of the API, of a WorkloadPriorityClass, a ClusterQueue or a
 * Cohort (docs/preemption.md#rules-that-protect). Each rule is taken from the nearest of them that
 * has it.
 *
 * @param minRunTime how long a Workload runs before it may be a target
 * @param maxPreemptions how often a Workload may be preempted
 * @param delay how long a Workload waits for quota before it preempts
 * @param checkpointGrace how long a target may take to save its work before it is evicted
 * @param exempt whether Workloads preempt others whatever their {@code minRunTime}; of priority
 *     classes only
 */
public record PreemptionRules(
    Optional<Duration> minRunTime,
    Optional<PreemptionLimit> maxPreemptions,
    Optional<Duration> delay,
    Optional<Duration> checkpointGrace,
    boolean exempt) {

  /** No rules beyond the fields. */
  public static final PreemptionRules NONE =
      new PreemptionRules(Optional.empty(), Optional.empty(), Optional.empty(), false);

  /** Rules without a grace for checkpoints. */
  public PreemptionRules(
      Optional<Duration> minRunTime,
      Optional<PreemptionLimit> maxPreemptions,
      Optional<Duration> delay,
      boolean exempt) {
    this(minRunTime, maxPreemptions, delay, Optional.empty(), exempt);
  }

  /** The same rules, with so much time for checkpoints. */
  public PreemptionRules withCheckpointGrace(Optional<Duration> grace) {
    return new PreemptionRules(minRunTime, maxPreemptions, delay, grace, exempt);
  }

  /** A Workload that was preempted so often within the window is no target. */
  public record PreemptionLimit(int preemptions, Duration window) {}

  /** These rules, and where they say nothing those of a more distant object. */
  public PreemptionRules or(PreemptionRules fartherRules) {
    if (fartherRules.isNone()) {
      return this;
    }
    return isNone() && !exempt
        ? fartherRules
        : new PreemptionRules(
            minRunTime.or(fartherRules::minRunTime),
            maxPreemptions.or(fartherRules::maxPreemptions),
            delay.or(fartherRules::delay),
            checkpointGrace.or(fartherRules::checkpointGrace),
            exempt);
  }

  /** Whether there is no rule, for targets and for preemptors. */
  public boolean isNone() {
    return minRunTime.isEmpty()
        && maxPreemptions.isEmpty()
        && delay.isEmpty()
        && checkpointGrace.isEmpty();
  }
}
