package dev.sluice.forecast.trace;

import dev.sluice.forecast.runtimes.FinishedRun.End;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A job of a trace.
 *
 * @param id tells it from the other jobs of the trace
 * @param submittedAt when it was submitted
 * @param lasted how long it ran
 * @param waited how long it waited; empty if the trace doesn't say
 * @param amounts what it had altogether, by resource (thousandths for cpu, bytes for memory)
 * @param limit the limit that its user gave; empty without
 * @param end how it ended
 * @param owner whose job it is
 */
public record TraceJob(
    String id,
    Instant submittedAt,
    Duration lasted,
    Optional<Duration> waited,
    SortedMap<String, Long> amounts,
    Optional<Duration> limit,
    End end,
    JobOwner owner) {

  public TraceJob {
    amounts = Collections.unmodifiableSortedMap(new TreeMap<>(amounts));
  }

  /**
   * Whose job it is; a text is empty where the trace says nothing.
   *
   * @param user who submitted it
   * @param group the group or team
   * @param program what was run
   * @param queue the queue, virtual cluster or class of service
   */
  public record JobOwner(String user, String group, String program, String queue) {}
}
