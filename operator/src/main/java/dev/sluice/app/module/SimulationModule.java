package dev.sluice.app.module;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.forecast.feed.WorkloadSimulator;
import dev.sluice.forecast.simulate.Feasibility;
import dev.sluice.jobs.controller.JobSimulator;
import dev.sluice.jobs.controller.JobSimulator.Answer;
import dev.sluice.jobs.controller.WorkloadPreview;
import dev.sluice.jobs.controller.WorkloadPreview.Preview;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.metrics.StartMetrics;
import dev.sluice.server.auth.RequestBudget;
import dev.sluice.server.endpoints.SimulationDocument;
import dev.sluice.server.endpoints.SimulationEndpoint;
import dev.sluice.server.http.OverBudgetException;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What would become of jobs that don't exist (docs/simulate.md), on a thread of its own. */
public final class SimulationModule implements OperatorModule {

  private static final Logger LOG = LoggerFactory.getLogger(SimulationModule.class);

  private static final String BEGIN = "simulation: ";

  /** How long a creation waits whose user is warned; without an answer until then there is none. */
  private static final Duration CREATION = Duration.ofMillis(500);

  /** How long a dry run waits: reviews have four seconds. */
  private static final Duration DRY_RUN = Duration.ofSeconds(1);

  /** Dry runs that wait at the same time: half of the fewest threads of a namespace's reviews. */
  private static final int DRY_RUNS = 1;

  private final ExecutorService oneByOne =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().name("simulations").daemon().priority(Thread.MIN_PRIORITY).factory());
  private final JobSimulator jobSimulator;
  private final RequestBudget requestBudget;
  private final Semaphore dryRuns = new Semaphore(DRY_RUNS);
  private final Duration warnOnCreate;

  /** Connected to the engine and to the rules of jobs; nothing is computed until it is asked. */
  public SimulationModule(
      OperatorContext context,
      SchedulerModule scheduler,
      JobModule jobs,
      RunTimeModule runTimes,
      MultiKueueModule multiKueue) {
    jobSimulator =
        new MeasuredSimulator(
            new PreviewSimulator(
                jobs.preview(),
                scheduler.translator()::of,
                new WorkloadSimulator(
                    runTimes.starts(),
                    runTimes.runBounds(),
                    context.clock(),
                    oneByOne,
                    ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime),
                multiKueue::workers,
                context.clock()),
            runTimes.startMetrics());
    requestBudget = SimulationEndpoint.budget(context.clock());
    warnOnCreate = context.configuration().warnOnCreate();
  }

  /** Says what would become of a job. */
  JobSimulator jobSimulator() {
    return jobSimulator;
  }

  /** What one tenant may ask for, in whatever way. */
  RequestBudget requestBudget() {
    return requestBudget;
  }

  /**
   * What somebody is told who creates a job, or only tries to: lines that name no Workload. Never
   * fails.
   */
  List<String> lines(AdmissionRequest request) {
    return request.dryRun() || warnOnCreate.isPositive()
        ? simulated(request, request.dryRun())
        : List.of();
  }

  private List<String> simulated(AdmissionRequest request, boolean dryRun) {
    if (!(request.object() instanceof ObjectNode job)
        || jobSimulator
            .kind(job.path("apiVersion").asText(), job.path("kind").asText())
            .isEmpty()) {
      return List.of();
    }
    String tenant = request.requestingUser().tenant();
    AtomicBoolean isWaiting = new AtomicBoolean();
    try {
      ObjectNode copy = job.deepCopy();
      copy.withObjectProperty("metadata").put("namespace", request.namespace());
      Answer answer =
          jobSimulator.of(
              copy,
              () -> {
                if (dryRun) {
                  requestBudget.take(tenant);
                }
                if (!dryRuns.tryAcquire()) {
                  throw new OverBudgetException("too many dry runs", DRY_RUN);
                }
                isWaiting.set(true);
                return new WorkloadSimulator.Asker(tenant, dryRun ? DRY_RUN : CREATION);
              });
      return switch (answer) {
        case Answer.Busy() -> dryRun ? busy() : List.of();
        case Answer.NotQueued _ -> List.of();
        case Answer.Simulated(var result, var note, var workers) -> {
          List<String> lines =
              new ArrayList<>(
                  dryRun
                      ? SimulationDocument.withoutNames(result)
                      : SimulationDocument.warning(result, warnOnCreate));
          if (dryRun && workers.isAsked()) {
            lines.add(workers.text());
          }
          if (!lines.isEmpty() && !note.isEmpty()) {
            lines.add(note);
          }
          yield lines.stream().map(line -> BEGIN + line).toList();
        }
      };
    } catch (OverBudgetException e) {
      return dryRun ? busy() : List.of();
    } catch (RuntimeException e) {
      LOG.warn("job={}/{} simulated=false", request.namespace(), request.name(), e);
      return List.of();
    } finally {
      if (isWaiting.get()) {
        dryRuns.release();
      }
    }
  }

  private static List<String> busy() {
    return List.of(BEGIN + "there was no answer in time; try again");
  }

  @Override
  public void close() {
    oneByOne.shutdownNow();
  }

  /** Counts what is answered, and how long that takes. */
  private record MeasuredSimulator(JobSimulator simulator, StartMetrics startMetrics)
      implements JobSimulator {

    @Override
    public Optional<JobKind> kind(String apiVersion, String kind) {
      return simulator.kind(apiVersion, kind);
    }

    @Override
    public Supplier<Answer> prepared(ObjectNode job, Supplier<WorkloadSimulator.Asker> asker) {
      long begin = System.nanoTime();
      Supplier<Answer> prepared = simulator.prepared(job, asker);
      return () -> answered(prepared.get(), Duration.ofNanos(System.nanoTime() - begin));
    }

    private Answer answered(Answer answer, Duration took) {
      String name =
          switch (answer) {
            case Answer.Simulated(var result, _, _) -> result.feasibility().apiName();
            case Answer.NotQueued _ -> "NotQueued";
            case Answer.Busy() -> "Busy";
          };
      startMetrics.answered(name, took);
      return answer;
    }
  }

  /** Adds the Workload that a job would get to a copy of the engine. */
  private static final class PreviewSimulator implements JobSimulator {

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
}
