package dev.sluice.core.model;

import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What protects a Workload with quota from preemption for some time.
 *
 * @param classRules the rules of its WorkloadPriorityClass, which come before those of queues
 * @param history what happened to it
 */
public record PreemptionProtection(PreemptionRules classRules, PreemptionHistory history) {

  /** No rules of its own, and no history. */
  public static final PreemptionProtection NONE =
      new PreemptionProtection(PreemptionRules.NONE, PreemptionHistory.NONE);

  /**
   * Until when the Workload is no target, in microseconds since the epoch; {@link Long#MIN_VALUE}
   * if no rule protects it.
   *
   * @param queueRules the rules of its ClusterQueue and of the Cohorts above
   * @param reservedAtMicros when it got its quota
   * @param exempt whether its {@code minRunTime} doesn't matter to the preemptor
   */
  public long untilMicros(PreemptionRules queueRules, long reservedAtMicros, boolean exempt) {
    if (queueRules.isNone() && classRules.isNone()) {
      return Long.MIN_VALUE;
    }
    PreemptionRules rules = rules(queueRules);
    long ran =
        exempt || rules.minRunTime().isEmpty()
            ? Long.MIN_VALUE
            : after(
                history.since().map(Instants::micros).orElse(reservedAtMicros),
                rules.minRunTime().get());
    return Math.max(ran, limitedUntilMicros(rules));
  }

  private long limitedUntilMicros(PreemptionRules rules) {
    Optional<PreemptionLimit> limit = rules.maxPreemptions();
    List<Instant> times = history.preemptedAt();
    if (limit.isEmpty() || times.size() < limit.get().preemptions()) {
      return Long.MIN_VALUE;
    }
    Instant oldest = times.get(times.size() - limit.get().preemptions());
    return after(Instants.micros(oldest), limit.get().window());
  }

  /**
   * The rules for the Workload.
   *
   * @param queueRules the rules of its ClusterQueue and of the Cohorts above
   */
  public PreemptionRules rules(PreemptionRules queueRules) {
    return classRules.or(queueRules);
  }

  /**
   * Since when work would be lost if the Workload were evicted, in microseconds since the epoch:
   * since its last checkpoint, or since it got its quota.
   */
  public long lossSinceMicros(long reservedAtMicros) {
    return history.checkpointedAt().isEmpty()
        ? reservedAtMicros
        : Math.max(reservedAtMicros, Instants.micros(history.checkpointedAt().get()));
  }

  /** A time and a duration later, in microseconds; the last one that there is if that is later. */
  public static long after(long micros, Duration duration) {
    return ResourceAmounts.add(
        micros,
        Math.min(duration.toSeconds(), Integer.MAX_VALUE) * 1_000_000L
            + duration.toNanosPart() / 1_000);
  }

  /**
   * What happened to a Workload that rules of preemption depend on.
   *
   * @param since for a Workload with quota, the time at which its pods were ready, or have to be at
   *     the latest while they aren't, or at which it was admitted where nobody watches them; empty
   *     if that is the time of the reservation. For a pending Workload, the time since which it
   *     waits after its last run, if that is later than its position in the queue
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
}
