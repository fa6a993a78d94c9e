package dev.sluice.visibility;

import dev.sluice.api.config.GoDuration;
import dev.sluice.forecast.feed.RunTimeEstimator.WorkloadRunTime;
import dev.sluice.forecast.runtimes.RunTimeDistribution;
import dev.sluice.forecast.runtimes.RunTimeEstimate;
import dev.sluice.forecast.runtimes.RunTimeGroup;
import dev.sluice.forecast.runtimes.RunTimeHistory.Learned;
import java.time.Duration;
import java.util.Optional;

/** How long a Workload is expected to run, as text for people (docs/run-times.md#what-is-shown). */
public final class RunTimeText {

  private static final double EARLY = 0.1;
  private static final double MEDIAN = 0.5;
  private static final double LATE = 0.9;

  private RunTimeText() {}

  /** The line, such as {@code runs about 40m (30m to 1h10m), learned from 12 runs of its name}. */
  public static String line(WorkloadRunTime runTime) {
    RunTimeEstimate estimate = runTime.estimate();
    return whole(runTime) + limit(estimate) + progress(runTime);
  }

  private static String whole(WorkloadRunTime runTime) {
    RunTimeEstimate estimate = runTime.estimate();
    return switch (estimate.basis()) {
      case DECLARED ->
          "runs about %s, declared by %s"
              .formatted(
                  quantile(estimate.distribution().orElseThrow(), MEDIAN),
                  runTime.queueWithDefault().orElse("its owner"));
      case LEARNED -> learned(estimate.learned().orElseThrow(), shown(estimate).orElseThrow());
      case LIMIT -> "how long it runs is not known";
      case UNKNOWN ->
          "how long it runs is unknown: nothing is declared, and too few runs like it have ended";
    };
  }

  private static String learned(Learned learned, RunTimeDistribution shown) {
    String median = quantile(shown, MEDIAN);
    String early = quantile(shown, EARLY);
    String late = quantile(shown, LATE);
    String about =
        "runs about " + median + (early.equals(late) ? "" : " (" + early + " to " + late + ")");
    if (!isOfOneNamespace(learned)) {
      return about + ", learned from runs " + group(learned.level());
    }
    int failed = (int) Math.round(learned.failedShare() * 100);
    return "%s, learned from %d runs %s%s"
        .formatted(
            about,
            learned.count(),
            group(learned.level()),
            failed > 0 ? ", of which " + failed + "% failed" : "");
  }

  /**
   * Whether the runs are all of the Workload's own namespace, so that their number may be told to
   * who may read the Workload.
   */
  public static boolean isOfOneNamespace(Learned learned) {
    return learned.level() != RunTimeGroup.Level.CLUSTER_QUEUE;
  }

  /** What is shown of what was learned: how long runs last that succeed. */
  public static Optional<RunTimeDistribution> shown(RunTimeEstimate estimate) {
    return estimate
        .learned()
        .map(Learned::succeeded)
        .map(all -> estimate.limit().map(all::atMost).orElse(all))
        .or(estimate::distribution);
  }

  /** The runs that were learned from, by what they have in common. */
  static String group(RunTimeGroup.Level level) {
    return switch (level) {
      case TEMPLATE -> "of the same pod templates in its LocalQueue";
      case NAME -> "of the same name";
      case USER -> "of the same user and request";
      case LOCAL_QUEUE -> "of the same request in its LocalQueue";
      case CLUSTER_QUEUE -> "in its ClusterQueue";
    };
  }

  private static String limit(RunTimeEstimate estimate) {
    return estimate.limit().map(limit -> ", at most " + text(limit)).orElse("");
  }

  private static String progress(WorkloadRunTime runTime) {
    return runTime
        .age()
        .map(
            age ->
                "; it has run for "
                    + text(age)
                    + runTime
                        .estimate()
                        .remaining(age, MEDIAN)
                        .filter(left -> runTime.estimate().distribution().isPresent())
                        .map(left -> ", about " + text(left) + " are left")
                        .orElse(""))
        .orElse("");
  }

  private static String quantile(RunTimeDistribution distribution, double probability) {
    return text(distribution.quantile(probability));
  }

  /** A duration as Go writes it, to two or three digits: seconds matter below ten minutes only. */
  static String text(Duration duration) {
    long seconds = Math.round(duration.toMillis() / 1000.0);
    long unit = seconds < 600 ? 1 : seconds < 360_000 ? 60 : 3_600;
    return GoDuration.format(Duration.ofSeconds((seconds + unit / 2) / unit * unit));
  }
}
