package dev.sluice.checks.provisioning;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * When the API server last refused what a check of a Workload needs. A refusal may have another
 * text each time, and each text that is written is a change of the Workload: without a pause the
 * next creation would follow at once. Thread-safe.
 */
final class RefusedCreations {

  private static final int MOST = 10_000;

  private final Duration pause;
  private final Map<String, Map<String, Instant>> byWorkload = new LinkedHashMap<>();

  /**
   * Remembers none.
   *
   * @param pause after a refusal
   */
  RefusedCreations(Duration pause) {
    this.pause = pause;
  }

  /** The API server refused something for a check of the Workload of this UID. */
  synchronized void refused(String workload, String check, Instant now) {
    byWorkload.computeIfAbsent(workload, uid -> new LinkedHashMap<>()).put(check, now);
    if (byWorkload.size() > MOST) {
      byWorkload.remove(byWorkload.keySet().iterator().next());
    }
  }

  /** The rest of the pause; empty if nothing was refused, or the pause is over. */
  synchronized Optional<Duration> rest(String workload, String check, Instant now) {
    return Optional.ofNullable(byWorkload.getOrDefault(workload, Map.of()).get(check))
        .map(at -> Duration.between(now, at.plus(pause)))
        .filter(rest -> rest.isPositive() && rest.compareTo(pause) <= 0);
  }

  /** The Workload of this UID is gone. */
  synchronized void forget(String workload) {
    byWorkload.remove(workload);
  }
}
