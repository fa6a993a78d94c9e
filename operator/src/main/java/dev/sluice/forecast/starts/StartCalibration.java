package dev.sluice.forecast.starts;

import dev.sluice.forecast.starts.StartEstimate.StartRange;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Corrects ranges by how far starts were outside of earlier ones
 * (docs/expected-starts.md#ranges-that-hold). Confined to one thread.
 */
public final class StartCalibration {

  /** The share of starts that may come before their range; as many may come after it. */
  private static final double OUTSIDE = 0.1;

  private static final int REMEMBERED = 200;
  private static final int LEAST = 20;
  private static final int QUEUES = 10_000;

  /** Added to waits before their logarithm is taken: less than a minute makes no difference. */
  private static final double RESOLUTION = 60_000;

  private final Map<String, Scores> scores = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * How many times longer waits were than those until the ends of the played ranges, as logarithms,
   * in the order of the starts.
   */
  private record Scores(Deque<Double> earliest, Deque<Double> latest) {}

  /**
   * Remembers a start.
   *
   * @param clusterQueue the ClusterQueue that the Workload started from
   * @param played the range that the plays said, before any correction
   * @param computedAt when they said so
   * @param started when it started
   */
  public void started(String clusterQueue, StartRange played, Instant computedAt, Instant started) {
    Scores known =
        scores.computeIfAbsent(
            clusterQueue, _ -> new Scores(new ArrayDeque<>(), new ArrayDeque<>()));
    double waited = logarithm(computedAt, started);
    remember(known.earliest(), waited - logarithm(computedAt, played.earliest()));
    played.latest().ifPresent(end -> remember(known.latest(), waited - logarithm(computedAt, end)));
    if (scores.size() > QUEUES) {
      scores.remove(scores.keySet().iterator().next());
    }
  }

  private static void remember(Deque<Double> known, double score) {
    known.addLast(score);
    if (known.size() > REMEMBERED) {
      known.removeFirst();
    }
  }

  /**
   * The range, moved at each end as far as earlier starts of the queue say; as it is while too few
   * have been seen.
   *
   * @param computedAt when the plays said so; no time of the range comes before it
   */
  public StartRange corrected(String clusterQueue, StartRange played, Instant computedAt) {
    Scores known = scores.get(clusterQueue);
    if (known == null || known.earliest().size() < LEAST) {
      return played;
    }
    Instant middle = notBefore(computedAt, played.expected());
    Instant earliest = moved(played.earliest(), quantile(known.earliest(), OUTSIDE), computedAt);
    return new StartRange(
        earliest.isAfter(middle) ? middle : earliest,
        middle,
        played
            .latest()
            .map(end -> moved(end, quantile(known.latest(), 1 - OUTSIDE), computedAt))
            .map(end -> notBefore(middle, end)));
  }

  /** The quantile of a finite sample that holds for the next value (Vovk et al. 2005). */
  private static double quantile(Deque<Double> scores, double share) {
    if (scores.size() < LEAST) {
      return 0;
    }
    double[] sorted = scores.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    double rank = (sorted.length + 1) * share;
    // outwards from the middle: a range is rather too wide than too narrow
    long place = share < 0.5 ? (long) Math.floor(rank) : (long) Math.ceil(rank);
    return sorted[(int) Math.clamp(place - 1, 0, sorted.length - 1)];
  }

  private static Instant moved(Instant time, double score, Instant computedAt) {
    double millis = Math.exp(logarithm(computedAt, time) + score) - RESOLUTION;
    return notBefore(computedAt, computedAt.plusMillis(Math.round(millis)));
  }

  private static double logarithm(Instant computedAt, Instant time) {
    return Math.log(Math.max(0, Duration.between(computedAt, time).toMillis()) + RESOLUTION);
  }

  private static Instant notBefore(Instant first, Instant time) {
    return time.isBefore(first) ? first : time;
  }
}
