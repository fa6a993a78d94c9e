package dev.sluice.visibility;

import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.forecast.starts.StartEstimate.StartRange;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** When a Workload is expected to start, as text for people (docs/expected-starts.md). */
public final class StartText {

  private StartText() {}

  /**
   * The line, such as {@code starts in about 25m (10m to 1h10m), at 2026-01-01T14:05:00Z, by
   * learned run times; no job arrives before it starts}.
   */
  public static String line(StartEstimate estimate) {
    String assumptions = String.join("; ", estimate.assumptions());
    return estimate
        .range()
        .map(
            range -> when(range, estimate.computedAt()) + by(estimate.basis()) + "; " + assumptions)
        .orElseGet(() -> without(estimate.basis()) + ": " + assumptions);
  }

  private static String when(StartRange range, Instant computedAt) {
    String earliest = in(range.earliest(), computedAt);
    String span =
        range
            .latest()
            .map(latest -> earliest + " to " + in(latest, computedAt))
            .orElse("at least " + earliest);
    return "starts in about %s (%s), at %s"
        .formatted(
            in(range.expected(), computedAt),
            span,
            range.expected().truncatedTo(ChronoUnit.SECONDS));
  }

  private static String in(Instant time, Instant computedAt) {
    Duration left = Duration.between(computedAt, time);
    return RunTimeText.text(left.isNegative() ? Duration.ZERO : left);
  }

  private static String by(StartEstimate.Basis basis) {
    return switch (basis) {
      case DECLARED -> ", by declared run times";
      case LEARNED -> ", by learned run times";
      case LIMIT -> ", by the limits of run times";
      case QUEUE_HISTORY -> ", by how long others waited in its queue";
      case UNKNOWN, NEVER -> "";
    };
  }

  private static String without(StartEstimate.Basis basis) {
    return basis == StartEstimate.Basis.NEVER
        ? "never starts, as it is"
        : "nobody can tell when it starts";
  }
}
