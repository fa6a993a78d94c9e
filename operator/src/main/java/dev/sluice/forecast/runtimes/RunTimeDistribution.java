package dev.sluice.forecast.runtimes;

import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;

/**
 * How likely a run ends within each time: a continuous, piecewise linear distribution function
 * (docs/run-times.md#from-runs-to-a-distribution). Immutable.
 */
public final class RunTimeDistribution {

  /**
   * A run that the distribution is made of.
   *
   * @param millis how long it lasted
   * @param weight how much it counts; positive
   * @param ended whether it ended by itself; otherwise it would have lasted longer
   */
  record Observation(double millis, double weight, boolean ended) {}

  /** How far beyond the outermost observations a run may end, as a factor. */
  private static final double WIDEST = 10;

  /** What sums of shares may miss of 1. */
  private static final double ROUNDING = 1e-9;

  /** Ratios of times below a second, in milliseconds, say nothing. */
  private static final double RESOLUTION = 1_000;

  /** Corners of the function: times in milliseconds, not decreasing, from probability 0 to 1. */
  private final double[] millis;

  private final double[] probabilities;

  /**
   * Which share of the runs that were seen ended up to each corner: steps at the times of runs.
   * What is left at the last corner but one lasted longer than all that ended.
   */
  private final double[] seen;

  private RunTimeDistribution(double[] millis, double[] probabilities, double[] seen) {
    this.millis = millis;
    this.probabilities = probabilities;
    this.seen = seen;
  }

  /** Exactly this duration. */
  public static RunTimeDistribution exactly(Duration duration) {
    double at = Math.max(0, duration.toMillis());
    return new RunTimeDistribution(new double[] {at, at}, new double[] {0, 1}, new double[] {0, 1});
  }

  /**
   * The weighted product-limit estimate (Kaplan and Meier 1958), in which the i-th of n times
   * stands for the probability i / (n + 1).
   *
   * @param observations at least one that ended
   */
  static RunTimeDistribution of(List<Observation> observations) {
    List<Observation> sorted =
        observations.stream()
            .sorted(
                Comparator.comparingDouble(Observation::millis)
                    .thenComparing(Observation::ended, Comparator.reverseOrder()))
            .toList();
    double sum = 0;
    double squares = 0;
    double atRisk = 0;
    int ended = 0;
    for (Observation each : sorted) {
      atRisk += each.weight();
      if (each.ended()) {
        ended++;
        sum += each.weight();
        squares += each.weight() * each.weight();
      }
    }
    if (ended == 0) {
      throw new IllegalArgumentException("no run ended by itself");
    }
    // the effective number of equally weighted observations (Kish 1965)
    double effective = sum * sum / squares;
    double shrink = effective / (effective + 1);
    double[] times = new double[ended + 2];
    double[] cumulative = new double[ended + 2];
    double[] seen = new double[ended + 2];
    double survival = 1;
    int corner = 1;
    for (Observation each : sorted) {
      if (each.ended()) {
        survival *= Math.max(0, 1 - each.weight() / atRisk);
        times[corner] = each.millis();
        seen[corner] = 1 - survival;
        cumulative[corner] = seen[corner] * shrink;
        corner++;
      }
      atRisk -= each.weight();
    }
    double longest = sorted.getLast().millis();
    double median = times[1 + (ended - 1) / 2];
    times[0] = times[1] / ratio(times[1], median);
    times[ended + 1] = longest * ratio(median, longest);
    cumulative[ended + 1] = 1;
    seen[ended + 1] = 1;
    return new RunTimeDistribution(times, cumulative, seen);
  }

  /** How many times longer the second is, at least once and at most {@link #WIDEST} times. */
  private static double ratio(double shorter, double longer) {
    return Math.clamp((longer + RESOLUTION) / (shorter + RESOLUTION), 1, WIDEST);
  }

  /** The duration within which a run ends with the probability, which is cut to 0 to 1. */
  public Duration quantile(double probability) {
    return Duration.ofMillis(Math.round(at(Math.clamp(probability, 0, 1))));
  }

  /** The probability that a run ends within the duration. */
  public double probabilityWithin(Duration duration) {
    return probability(duration.toMillis());
  }

  /**
   * A quantile of the whole duration of runs that have lasted for a while already; empty if none of
   * the distribution lasts for longer than that.
   *
   * @param age how long the run has lasted
   * @param probability which quantile, of 0 to 1
   */
  public OptionalDouble quantileBeyond(Duration age, double probability) {
    double at = age.toMillis();
    double passed = probability(at);
    if (passed >= 1 || millis[millis.length - 1] <= at) {
      return OptionalDouble.empty();
    }
    return OptionalDouble.of(Math.max(at, at(passed + (1 - passed) * probability)));
  }

  /** The same distribution, of which nothing lasts for longer than the limit. */
  public RunTimeDistribution atMost(Duration limit) {
    double most = Math.max(0, limit.toMillis());
    if (millis[millis.length - 1] <= most) {
      return this;
    }
    int kept = 0;
    while (millis[kept] <= most) {
      kept++;
      if (kept == millis.length) {
        return this;
      }
    }
    double passed = probability(most);
    double[] times = Arrays.copyOf(millis, kept + 2);
    double[] cumulative = Arrays.copyOf(probabilities, kept + 2);
    double[] seenUpTo = Arrays.copyOf(seen, kept + 2);
    times[kept] = most;
    cumulative[kept] = kept == 0 ? 0 : passed;
    times[kept + 1] = most;
    cumulative[kept + 1] = 1;
    seenUpTo[kept] = kept == 0 ? 0 : seen[kept - 1];
    seenUpTo[kept + 1] = 1;
    return new RunTimeDistribution(times, cumulative, seenUpTo);
  }

  /**
   * The whole duration of one of the runs that were seen and lasted for longer than the age; empty
   * if none did. The mean of such draws is the mean of the runs, which that of {@link
   * #quantileBeyond} exceeds: sums of run times are computed from draws.
   *
   * @param age how long the run has lasted
   * @param probability which of them, from the shortest to the longest, of 0 to 1
   */
  public OptionalDouble drawnBeyond(Duration age, double probability) {
    double at = age.toMillis();
    int last = millis.length - 1;
    int corner = 0;
    while (corner < last && millis[corner] <= at) {
      corner++;
    }
    double passed = corner == 0 ? 0 : seen[corner - 1];
    if (passed >= 1 - ROUNDING || millis[last] <= at) {
      return OptionalDouble.empty();
    }
    double share = passed + (1 - passed) * probability;
    while (corner < last && seen[corner] < share) {
      corner++;
    }
    if (corner < last) {
      return OptionalDouble.of(millis[corner]);
    }
    double from = Math.max(passed, seen[last - 1]);
    double beyond = from < 1 ? Math.clamp((share - from) / (1 - from), 0, 1) : 1;
    double begin = Math.max(at, millis[last - 1]);
    return OptionalDouble.of(begin + beyond * (millis[last] - begin));
  }

  private double at(double probability) {
    int upper = 1;
    while (upper < probabilities.length - 1 && probabilities[upper] < probability) {
      upper++;
    }
    double from = probabilities[upper - 1];
    double to = probabilities[upper];
    double share = to > from ? (probability - from) / (to - from) : 1;
    return millis[upper - 1] + share * (millis[upper] - millis[upper - 1]);
  }

  private double probability(double at) {
    if (at < millis[0]) {
      return 0;
    }
    if (at >= millis[millis.length - 1]) {
      return 1;
    }
    int upper = 1;
    while (millis[upper] <= at) {
      upper++;
    }
    double from = millis[upper - 1];
    double share = (at - from) / (millis[upper] - from);
    return probabilities[upper - 1] + share * (probabilities[upper] - probabilities[upper - 1]);
  }

  @Override
  public String toString() {
    return "RunTimeDistribution["
        + quantile(0.1)
        + ", "
        + quantile(0.5)
        + ", "
        + quantile(0.9)
        + "]";
  }
}
