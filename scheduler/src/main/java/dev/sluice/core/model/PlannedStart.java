package dev.sluice.core.model;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * When a Workload that doesn't fit starts at the latest, by upper bounds of run times
 * (docs/backfill.md).
 *
 * @param id the Workload
 * @param at when it starts at the latest, as it looks now
 * @param promised what {@code at} was when it was planned first
 * @param lateBy what made {@code at} later since then, in the order in which it happened first
 */
public record PlannedStart(WorkloadId id, Instant at, Instant promised, List<LateCause> lateBy) {

  public PlannedStart {
    lateBy = List.copyOf(lateBy);
  }

  /** What may make a planned start later. */
  public enum LateCause {
    /** A Workload comes before it that didn't: of higher priority, or queued for longer. */
    HIGHER_PRIORITY("HigherPriority"),
    /** Quota, or what can be borrowed, was reduced, or others keep what it would use. */
    QUOTA_REDUCED("QuotaReduced"),
    /** A run went on beyond its bound, or got a later one, or has none any more. */
    RUN_BEYOND_BOUND("RunBeyondBound"),
    /** Other queues of the cohort hold quota that the queue lends. */
    QUOTA_LENT("QuotaLent"),
    /** Something that isn't planned for: places on nodes, limits on the number of Workloads. */
    OTHER("Other");

    private final String text;

    LateCause(String text) {
      this.text = text;
    }

    /** The cause as people and metrics read it. */
    public String text() {
      return text;
    }
  }

  /**
   * What happened in a cycle to a Workload of a queue with back-fill
   * (docs/backfill.md#what-is-shown).
   *
   * @param kind what happened
   * @param planned the planned start that it had, or has now if that moved; empty if it had none
   * @param cause why the planned start moved; empty if it didn't
   */
  public record BackfillEvent(
      String clusterQueue,
      WorkloadId id,
      Kind kind,
      Optional<Instant> planned,
      Optional<LateCause> cause) {

    /** What happened. */
    public enum Kind {
      /** It started before a Workload that comes before it. */
      BACKFILLED,
      /** It started as planned, or earlier. */
      KEPT,
      /** It started later than was planned first. */
      LATE,
      /** Its planned start moved to a later time, or there is none any more. */
      MOVED
    }
  }
}
