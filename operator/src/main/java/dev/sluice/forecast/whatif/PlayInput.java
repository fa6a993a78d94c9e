package dev.sluice.forecast.whatif;

import dev.sluice.core.engine.EngineState;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The work of some time, to be played under one set of rules or another.
 *
 * @param state the engine at the begin
 * @param begin the begin
 * @param end the end; nothing is played beyond it
 * @param happenings what comes from outside, by its time
 * @param runTimes how long Workloads run; what isn't there runs beyond the end
 * @param running the Workloads that have quota at the begin
 * @param stopping how long the pods of a preempted Workload take to stop
 * @param remarks what isn't as it was, a sentence each
 */
public record PlayInput(
    EngineState state,
    Instant begin,
    Instant end,
    List<Happening> happenings,
    Map<WorkloadId, Duration> runTimes,
    List<RunningAtBegin> running,
    Duration stopping,
    List<String> remarks) {

  /** How long the pods of a preempted Workload take to stop, where nothing tells. */
  public static final Duration STOPPING = Duration.ofSeconds(30);

  public PlayInput {
    happenings = List.copyOf(happenings);
    runTimes = Map.copyOf(runTimes);
    running = List.copyOf(running);
    remarks = List.copyOf(remarks);
  }

  /** The same with more that comes from outside. */
  public PlayInput with(List<? extends Happening> more) {
    List<Happening> all = new ArrayList<>(happenings);
    all.addAll(more);
    return new PlayInput(state, begin, end, all, runTimes, running, stopping, remarks);
  }

  /**
   * A Workload that has quota at the begin.
   *
   * @param again what is queued when it is preempted; if that is unknown, it is gone then
   * @param rest how much longer it runs or, if it is being evicted, until its pods have stopped;
   *     empty if that is beyond the end
   * @param evicted whether it is being evicted
   */
  public record RunningAtBegin(
      WorkloadId id, Optional<PendingWorkload> again, Optional<Duration> rest, boolean evicted) {}

  /** What comes from outside. */
  public sealed interface Happening {

    /** When it happens. */
    Instant at();

    /** A Workload arrives. */
    record Arrival(Instant at, PendingWorkload workload) implements Happening {}

    /** A Workload that may have started differs, as in its priority. */
    record Change(Instant at, PendingWorkload workload) implements Happening {}

    /**
     * A Workload is deleted or put on hold.
     *
     * @param always whether also while it runs: nobody knows how long it would have run
     */
    record Departure(Instant at, WorkloadId id, boolean always) implements Happening {}

    /** Something is declared, changed or removed, a node changes, or a bound of a run is known. */
    record DeclarationEvent(Instant at, SchedulerEvent event) implements Happening {}
  }
}
