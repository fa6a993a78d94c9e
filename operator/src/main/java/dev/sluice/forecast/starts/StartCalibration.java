package dev.sluice.forecast.starts;

import dev.sluice.forecast.starts.StartEstimate.StartRange;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Corrects ranges by how far starts were outside of earlier ones
 * (docs/expected-starts.md#ranges-that-hold). Confined to one thread.
 */
public final class StartCalibration {

  /** The share of starts that are to be in their range. */
  public static final double AIM = 0.8;

  private static final int REMEMBERED = 200;
  private static final int LEAST = 20;
  private static final int QUEUES = 10_000;

  /** Waits below it are compared as if they were as long, in milliseconds. */
  private static final double RESOLUTION = 60_000;

  private final Map<String, Deque<Double>> scores = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * Remembers a start.
   *
   * @param clusterQueue the ClusterQueue that the Workload started from
   * @param played the range that the plays said, before any correction
   * @param computedAt when they said so
   * @param started when it started
   */
  public void started(String clusterQueue, StartRange played, Instant computedAt, Instant started) {
    double score = Duration.between(started, played.earliest()).toMillis();
    if (played.latest().isPresent()) {
      score = Math.max(score, Duration.between(played.latest().get(), started).toMillis());
    }
    Deque<Double> known = scores.computeIfAbsent(clusterQueue, _ -> new ArrayDeque<>());
    known.addLast(score / unit(played, computedAt));
    if (known.size() > REMEMBERED) {
      known.removeFirst();
    }
    if (scores.size() > QUEUES) {
      scores.remove(scores.keySet().iterator().next());
    }
  }

  /**
   * The range, moved at both ends by what earlier starts of the queue say; as it is while too few
   * have been seen.
   *
   * @param computedAt when the plays said so; no end of the range comes before it
   */
  public StartRange corrected(String clusterQueue, StartRange played, Instant computedAt) {
    Deque<Double> known = scores.get(clusterQueue);
    if (known == null || known.size() < LEAST) {
      return played;
    }
    double[] sorted = known.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    // the quantile of a finite sample that holds for the next value (Vovk et al. 2005)
    int rank = (int) Math.ceil((sorted.length + 1) * AIM) - 1;
    double move = sorted[Math.min(rank, sorted.length - 1)] * unit(played, computedAt);
    Instant earliest = played.earliest().minusMillis(Math.round(move));
    Optional<Instant> latest = played.latest().map(end -> end.plusMillis(Math.round(move)));
    Instant middle = played.expected();
    return new StartRange(
        notBefore(computedAt, earliest.isAfter(middle) ? middle : earliest),
        notBefore(computedAt, middle),
        latest.map(end -> notBefore(computedAt, end.isBefore(middle) ? middle : end)));
  }

  private static Instant notBefore(Instant first, Instant time) {
    return time.isBefore(first) ? first : time;
  }

  /** The wait that was expected, in milliseconds. */
  private static double unit(StartRange played, Instant computedAt) {
    return Math.max(RESOLUTION, Duration.between(computedAt, played.expected()).toMillis());
  }
}
