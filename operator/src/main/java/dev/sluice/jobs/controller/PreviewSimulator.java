package dev.sluice.jobs.controller;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.forecast.feed.WorkloadSimulator;
import dev.sluice.forecast.simulate.Feasibility;
import dev.sluice.jobs.controller.WorkloadPreview.Preview;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;

/** Adds the Workload that a job would get to a copy of the engine. */
public final class PreviewSimulator implements JobSimulator {

  private final WorkloadPreview preview;
  private final Function<CachedWorkload, SchedulerEvent> translator;
  private final WorkloadSimulator workloadSimulator;
  private final Function<String, Workers> workers;
  private final InstantSource clock;
  private final WorkloadParser parser = new WorkloadParser();

  /**
   * A simulator.
   *
   * @param translator makes of a Workload what the engine is told of it
   * @param workers the worker clusters of a ClusterQueue
   */
  public PreviewSimulator(
      WorkloadPreview preview,
      Function<CachedWorkload, SchedulerEvent> translator,
      WorkloadSimulator workloadSimulator,
      Function<String, Workers> workers,
      InstantSource clock) {
    this.preview = preview;
    this.translator = translator;
    this.workloadSimulator = workloadSimulator;
    this.workers = workers;
    this.clock = clock;
  }

  @Override
  public Optional<JobKind> kind(String apiVersion, String kind) {
    return preview.kind(apiVersion, kind);
  }

  @Override
  public Supplier<Answer> prepared(ObjectNode job, Supplier<WorkloadSimulator.Asker> asker) {
    return switch (preview.of(job)) {
      case Preview.None(var why) -> () -> new Answer.NotQueued(why);
      case Preview.Composed(var workload, var note) -> prepared(record(workload), note, asker);
    };
  }

  private Supplier<Answer> prepared(
      CachedWorkload workload, String note, Supplier<WorkloadSimulator.Asker> asker) {
    return translator.apply(workload) instanceof SchedulerEvent.WorkloadPending(var pending)
        ? () ->
            workloadSimulator
                .of(workload, pending, asker.get())
                .<Answer>map(
                    result ->
                        new Answer.Simulated(
                            result,
                            note,
                            result.feasibility() == Feasibility.NEVER
                                ? Workers.NONE
                                : workers.apply(result.pendingReport().clusterQueue())))
                .orElseGet(Answer.Busy::new)
        : () -> new Answer.NotQueued("it is not queued: it is held by an admission gate");
  }

  /** The record of a Workload that is created now. */
  private CachedWorkload record(ObjectNode workload) {
    workload
        .withObjectProperty("metadata")
        .put("uid", UUID.randomUUID().toString())
        .put("resourceVersion", "1")
        .put("creationTimestamp", clock.instant().toString());
    try {
      return parser.parse(JsonMappers.JSON.writeValueAsBytes(workload));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree can be written", e);
    } catch (IOException e) {
      throw new IllegalStateException("a Workload of ours can be read", e);
    }
  }
}
