package dev.sluice.core.model;

import java.time.Duration;
import java.util.Optional;

/**
 * Whether Workloads of a StrictFIFO queue may start before its head that doesn't fit
 * (docs/backfill.md).
 *
 * @param depth how many of the first Workloads that don't fit get a planned start, from 1 to {@link
 *     #DEEPEST}
 * @param unknown which bound a Workload has that has no limit
 */
public record BackfillRules(int depth, UnknownRunTime unknown) {

  /** The largest {@link #depth}. */
  public static final int DEEPEST = 100;

  /** Which bound of its run time counts for a Workload that has no limit. */
  public enum UnknownRunTime {
    /** None, and it never starts before the head. */
    REFUSE,
    /** The longest run that its queues allow. */
    USE_LIMIT,
    /** What was learned from runs like it, or what its owner expects. */
    USE_LEARNED
  }

  /**
   * Upper bounds of how long one run of a Workload takes, counted from the reservation of its quota
   * (docs/backfill.md#bounds). Each one is above 0.
   *
   * @param limit the limit of the Workload, which the operator enforces; empty if it has none
   * @param queueLimit the longest run that its queues allow; empty if they name none
   * @param estimate what runs like it, or its owner, let expect at most; empty if nobody knows
   */
  public record RunBound(
      Optional<Duration> limit, Optional<Duration> queueLimit, Optional<Duration> estimate) {

    /** Nothing is known. */
    public static final RunBound UNKNOWN =
        new RunBound(Optional.empty(), Optional.empty(), Optional.empty());

    /** A limit that is enforced, and nothing else. */
    public static RunBound of(Duration limit) {
      return new RunBound(Optional.of(limit), Optional.empty(), Optional.empty());
    }

    /** The bound that counts under a rule; empty if there is none. */
    public Optional<Duration> under(UnknownRunTime unknown) {
      return switch (unknown) {
        case REFUSE -> limit;
        case USE_LIMIT -> limit.or(() -> queueLimit);
        case USE_LEARNED -> limit.or(() -> estimate);
      };
    }
  }
}
