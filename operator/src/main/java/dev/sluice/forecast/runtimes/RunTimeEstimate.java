package dev.sluice.forecast.runtimes;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * How long a run of a Workload is expected to last (docs/run-times.md).
 *
 * @param basis where the estimate comes from
 * @param learned what runs of the same group say; present with basis {@code LEARNED}
 * @param distribution how long it lasts, cut at the limit; present with basis {@code DECLARED} and
 *     {@code LEARNED}
 * @param limit the duration that it can't exceed, if there is one
 */
public record RunTimeEstimate(
    Basis basis,
    Optional<RunTimeHistory.Learned> learned,
    Optional<RunTimeDistribution> distribution,
    Optional<Duration> limit) {

  /** Where an estimate comes from. */
  public enum Basis {
    /** The owner says so. */
    DECLARED,
    /** From runs that ended. */
    LEARNED,
    /** An upper bound alone. */
    LIMIT,
    /** From nothing: no date may be computed from it. */
    UNKNOWN;

    /** The word for people and documents: {@code Learned}. */
    public String text() {
      return name().charAt(0) + name().substring(1).toLowerCase(Locale.ROOT);
    }
  }

  /**
   * The estimate for a Workload.
   *
   * @param declared what its owner expects
   * @param learned what runs of the same group say
   * @param limit what it can't exceed
   */
  public static RunTimeEstimate of(
      Optional<Duration> declared,
      Optional<RunTimeHistory.Learned> learned,
      Optional<Duration> limit) {
    if (declared.isPresent()) {
      return new RunTimeEstimate(
          Basis.DECLARED,
          Optional.empty(),
          declared.map(duration -> cut(RunTimeDistribution.exactly(duration), limit)),
          limit);
    }
    if (learned.isPresent()) {
      return new RunTimeEstimate(
          Basis.LEARNED, learned, learned.map(each -> cut(each.all(), limit)), limit);
    }
    return new RunTimeEstimate(
        limit.isPresent() ? Basis.LIMIT : Basis.UNKNOWN, Optional.empty(), Optional.empty(), limit);
  }

  private static RunTimeDistribution cut(
      RunTimeDistribution distribution, Optional<Duration> limit) {
    return limit.map(distribution::atMost).orElse(distribution);
  }

  /**
   * How long a run that has lasted for a while goes on, as the quantile says: the quantile above
   * its age, else the rest of the limit, else as long again as it has lasted. Empty if nothing is
   * known.
   *
   * @param age how long it has lasted; zero before it starts
   * @param probability which quantile, of 0 to 1
   */
  public Optional<Duration> remaining(Duration age, double probability) {
    if (distribution.isPresent()) {
      OptionalDouble whole = distribution.get().quantileBeyond(age, probability);
      if (whole.isPresent()) {
        return Optional.of(rest(whole.getAsDouble(), age));
      }
    }
    if (limit.isPresent()) {
      Duration rest = limit.get().minus(age);
      return Optional.of(rest.isNegative() ? Duration.ZERO : rest);
    }
    return distribution.isPresent() ? Optional.of(age) : Optional.empty();
  }

  /**
   * How long a run that has lasted for a while goes on in a play: as long as one of the runs that
   * were seen and lasted for longer than that. Without such runs as {@link #remaining} says.
   *
   * @param age how long it has lasted; zero before it starts
   * @param probability which quantile, of 0 to 1
   */
  public Optional<Duration> drawn(Duration age, double probability) {
    if (distribution.isPresent()) {
      OptionalDouble whole = distribution.get().drawnBeyond(age, probability);
      if (whole.isPresent()) {
        return Optional.of(rest(whole.getAsDouble(), age));
      }
    }
    return remaining(age, probability);
  }

  private static Duration rest(double wholeMillis, Duration age) {
    return Duration.ofMillis(Math.round(wholeMillis)).minus(age);
  }
}
