package dev.sluice.forecast.feed;

import dev.sluice.forecast.runtimes.FinishedRun;
import dev.sluice.forecast.runtimes.FinishedRun.End;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.status.PodsReady;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads runs from the conditions of Workloads (docs/run-times.md#recording). */
final class WorkloadRuns {

  private static final String ADMITTED = "Admitted";

  private WorkloadRuns() {}

  /**
   * The run that a change of a Workload ends; empty if it ends none.
   *
   * @param before the previous version; null when the Workload is seen for the first time
   */
  static Optional<FinishedRun> ended(@Nullable CachedWorkload before, CachedWorkload after) {
    if (after.finished()) {
      return before != null && (before.finished() || before.evicted())
          ? Optional.empty()
          : finished(before, after);
    }
    if (before == null || !before.admitted() || before.evicted()) {
      return Optional.empty();
    }
    return after.evicted() || !after.admitted() ? evicted(before, after) : Optional.empty();
  }

  private static Optional<FinishedRun> finished(
      @Nullable CachedWorkload before, CachedWorkload after) {
    Condition finished = after.status().condition("Finished").orElseThrow();
    CachedWorkload running = before == null || after.admitted() ? after : before;
    End end =
        switch (finished.reason()) {
          case "Succeeded" -> End.SUCCEEDED;
          case "Failed" -> End.FAILED;
          default -> End.EVICTED;
        };
    Instant endedAt = finished.lastTransitionTime();
    return startedAt(running, endedAt).map(started -> run(started, endedAt, end));
  }

  /** The eviction is the end, not the moment when the pods are gone. */
  private static Optional<FinishedRun> evicted(CachedWorkload before, CachedWorkload after) {
    boolean neverReady =
        before.status().condition(PodsReady.TYPE).filter(PodsReady::isStarting).isPresent();
    if (neverReady) {
      return Optional.empty();
    }
    return after
        .status()
        .condition(after.evicted() ? "Evicted" : ADMITTED)
        .map(Condition::lastTransitionTime)
        .flatMap(
            endedAt ->
                startedAt(before, endedAt).map(started -> run(started, endedAt, End.EVICTED)));
  }

  private static FinishedRun run(Instant started, Instant endedAt, End end) {
    return new FinishedRun(endedAt, Duration.between(started, endedAt), end);
  }

  /**
   * When the run of an admitted Workload began: when its pods were ready, else at its admission;
   * empty if it isn't admitted.
   *
   * @param until the end of the run, or now. Readiness that is told with the end says nothing
   */
  static Optional<Instant> startedAt(CachedWorkload workload, Instant until) {
    Optional<Instant> admitted =
        workload.status().trueCondition(ADMITTED).map(Condition::lastTransitionTime);
    return admitted.map(
        at ->
            workload
                .status()
                .trueCondition(PodsReady.TYPE)
                // pods that are ready again began to run before that
                .filter(ready -> ready.reason().equals(PodsReady.STARTED))
                .map(Condition::lastTransitionTime)
                .filter(ready -> !ready.isBefore(at) && ready.isBefore(until))
                .orElse(at));
  }
}
