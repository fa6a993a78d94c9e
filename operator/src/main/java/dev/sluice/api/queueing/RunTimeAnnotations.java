package dev.sluice.api.queueing;

import dev.sluice.api.config.GoDuration;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The annotations that say how long jobs run (docs/run-times.md). */
public final class RunTimeAnnotations {

  /** On a job and its Workload: how long its owner expects it to run. No limit. */
  public static final String EXPECTED = "sluice.dev/expected-run-time";

  /** On a ClusterQueue or LocalQueue: how long Workloads run that declare nothing. */
  public static final String DEFAULT = "sluice.dev/default-run-time";

  /** On a ClusterQueue or LocalQueue: how long a job may run at most. */
  public static final String MAX = "sluice.dev/max-run-time";

  /** On a Workload: how long its job may be active after each start, as the job says. */
  public static final String DEADLINE = "sluice.dev/active-deadline";

  /** What is allowed as an expected or default run time, after "must be". */
  public static final String RULE = "a duration above 0 and of at most 87600h, such as 90m";

  /** What is allowed as a limit, after "must be". */
  public static final String LIMIT_RULE =
      "a duration of at least 1s and of at most 87600h, such as 8h";

  private static final Duration LONGEST = Duration.ofHours(87_600);
  private static final int MOST_CHARACTERS = 40;

  private RunTimeAnnotations() {}

  /** What the owner of a job expects; empty if nothing that is allowed is declared. */
  public static Optional<Duration> expected(@Nullable Map<String, String> annotations) {
    return read(annotations, EXPECTED);
  }

  /** The same as it is written. */
  public static Optional<String> expectedText(Map<String, String> annotations) {
    return Optional.ofNullable(annotations.get(EXPECTED)).filter(text -> parse(text).isPresent());
  }

  /** How long a run of a Workload may last by the job's own deadline; empty without one. */
  public static Optional<Duration> deadline(Map<String, String> annotations) {
    return read(annotations, DEADLINE);
  }

  /** The default of a queue; empty if it has none that is allowed. */
  public static Optional<Duration> defaultOf(@Nullable Map<String, String> annotations) {
    return read(annotations, DEFAULT);
  }

  /** The limit of a queue in whole seconds; empty if it has none that is allowed. */
  public static Optional<Duration> maxOf(@Nullable Map<String, String> annotations) {
    return read(annotations, MAX)
        .map(limit -> Duration.ofSeconds(limit.toSeconds()))
        .filter(Duration::isPositive);
  }

  private static Optional<Duration> read(@Nullable Map<String, String> annotations, String key) {
    String value = annotations == null ? null : annotations.get(key);
    return value == null ? Optional.empty() : parse(value);
  }

  /** The duration that a value says; empty if it isn't allowed. */
  public static Optional<Duration> parse(String value) {
    if (value.length() > MOST_CHARACTERS) {
      return Optional.empty();
    }
    try {
      return Optional.of(GoDuration.parse(value.strip()))
          .filter(duration -> duration.isPositive() && duration.compareTo(LONGEST) <= 0);
    } catch (IllegalArgumentException notADuration) {
      return Optional.empty();
    }
  }
}
