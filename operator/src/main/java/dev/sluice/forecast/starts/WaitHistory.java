package dev.sluice.forecast.starts;

import dev.sluice.forecast.runtimes.FinishedRun;
import dev.sluice.forecast.runtimes.RunTimeDistribution;
import dev.sluice.forecast.runtimes.RunTimeGroup;
import dev.sluice.forecast.runtimes.RunTimeHistory;
import dev.sluice.forecast.runtimes.RunTimeHistory.RunTimeOptions;
import dev.sluice.forecast.starts.StartEstimate.StartRange;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * How long Workloads of a queue waited lately: the basis of an estimate where run times are
 * unknown. Learned as run times are (docs/run-times.md). Confined to one thread.
 */
public final class WaitHistory {

  private final RunTimeHistory waits;

  /** An empty history. */
  public WaitHistory(RunTimeOptions options) {
    this.waits = new RunTimeHistory(options);
  }

  private static List<RunTimeGroup> queue(String clusterQueue) {
    return List.of(new RunTimeGroup(RunTimeGroup.Level.CLUSTER_QUEUE, clusterQueue));
  }

  /** Remembers that a Workload of the queue waited for so long and started then. */
  public void started(String clusterQueue, Duration waited, Instant at) {
    waits.add(queue(clusterQueue), new FinishedRun(at, waited, FinishedRun.End.SUCCEEDED));
  }

  /**
   * When a Workload that waits since a time starts, by what others waited; empty without enough of
   * them, or if it has waited for longer than they did.
   */
  public Optional<StartRange> range(String clusterQueue, Instant since, Instant now) {
    return waits
        .learned(queue(clusterQueue), now)
        .flatMap(learned -> range(learned.all(), since, Duration.between(since, now)));
  }

  private static Optional<StartRange> range(
      RunTimeDistribution waits, Instant since, Duration waited) {
    Duration age = waited.isNegative() ? Duration.ZERO : waited;
    OptionalDouble earliest = waits.quantileBeyond(age, 0.1);
    OptionalDouble expected = waits.quantileBeyond(age, 0.5);
    OptionalDouble latest = waits.quantileBeyond(age, 0.9);
    return earliest.isPresent() && expected.isPresent() && latest.isPresent()
        ? Optional.of(
            new StartRange(
                since.plusMillis(Math.round(earliest.getAsDouble())),
                since.plusMillis(Math.round(expected.getAsDouble())),
                Optional.of(since.plusMillis(Math.round(latest.getAsDouble())))))
        : Optional.empty();
  }
}
