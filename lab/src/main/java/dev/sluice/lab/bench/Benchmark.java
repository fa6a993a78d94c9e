package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.bench.BenchmarkApiClient.Answer;
import dev.sluice.lab.bench.BenchmarkFixture.Condition;
import dev.sluice.lab.bench.Scenario.Form;
import dev.sluice.lab.bench.Schedule.Creation;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs one scenario against one installation and measures it. */
final class Benchmark {

  private final Scenario scenario;
  private final Installation installation;
  private final Duration limit;
  private final Consumer<String> tell;
  private final List<ReviewLoad> loads;

  /** Creates a benchmark that fails after {@code limit}; {@code tell} receives progress lines. */
  Benchmark(Scenario scenario, Installation installation, Duration limit, Consumer<String> tell) {
    this(scenario, installation, limit, tell, List.of());
  }

  /** The same with loads that last as long as the run. */
  Benchmark(
      Scenario scenario,
      Installation installation,
      Duration limit,
      Consumer<String> tell,
      List<ReviewLoad> loads) {
    this.loads = List.copyOf(loads);
    this.scenario = scenario;
    this.installation = installation;
    this.limit = limit;
    this.tell = tell;
  }

  /**
   * Runs the scenario.
   *
   * @param version version of the API to use; the newest served version if empty
   * @param run name of the run, unique in the cluster
   * @throws BenchException when not all Workloads ended, at once when the operator has ended
   */
  Figures run(String version, String run) {
    try (BenchmarkApiClient benchmarkApiClient =
        new BenchmarkApiClient(installation.kubeconfig())) {
      String spoken =
          version.isEmpty() ? BenchmarkFixture.servedVersion(benchmarkApiClient) : version;
      BenchmarkTarget benchmarkTarget = new BenchmarkTarget(run, spoken);
      BenchmarkFixture benchmarkFixture =
          new BenchmarkFixture(scenario, benchmarkTarget, benchmarkApiClient);
      try {
        if (installation.decides()) {
          benchmarkFixture.setUp(installation.ended());
          tell.accept(
              "%d queues are active, %d workloads follow (%s)"
                  .formatted(scenario.queues(), scenario.size(), spoken));
        } else {
          benchmarkFixture.createNamespace();
        }
        return measured(benchmarkTarget, benchmarkApiClient);
      } finally {
        if (!installation.passing()) {
          benchmarkFixture.takeDown();
        }
      }
    }
  }

  private Figures measured(BenchmarkTarget benchmarkTarget, BenchmarkApiClient benchmarkApiClient) {
    try (BenchmarkRun benchmarkRun =
        new BenchmarkRun(scenario, benchmarkTarget, benchmarkApiClient)) {
      var unused = installation.ended().thenAccept(benchmarkRun::abort);
      loads.forEach(ReviewLoad::start);
      loads.forEach(ReviewLoad::count);
      Figures.Reading before = read(benchmarkApiClient);
      AtomicReference<Figures.Partial> lastThird = new AtomicReference<>();
      Timings timings =
          benchmarkRun.run(
              limit,
              progress -> {
                tell(progress);
                if (lastThird.get() == null && progress.finished() >= progress.of() * 2L / 3) {
                  lastThird.set(new Figures.Partial(progress.finished(), operator()));
                }
              });
      loads.forEach(ReviewLoad::stop);
      return Figures.of(
          scenario,
          timings,
          before,
          Optional.ofNullable(lastThird.get()),
          read(benchmarkApiClient));
    }
  }

  private Figures.Reading read(BenchmarkApiClient benchmarkApiClient) {
    return new Figures.Reading(
        benchmarkApiClient.metrics(),
        operator(),
        ProcessReading.of(ProcessHandle.current().pid()),
        benchmarkApiClient.sent(),
        installation.audit().map(AuditLog::writes).orElseGet(Map::of));
  }

  private ProcessReading operator() {
    return ProcessReading.of(installation.operatorPid());
  }

  private void tell(BenchmarkRun.Progress progress) {
    tell.accept(
        "%d of %d created, %d admitted, %d finished"
            .formatted(
                progress.created(), progress.of(), progress.admitted(), progress.finished()));
  }

  /**
   * One run of a scenario: creates its work on schedule, runs admitted work for its time, and marks
   * it finished. All state is confined to one thread, which never waits for the API server.
   */
  private static final class BenchmarkRun implements AutoCloseable {

    private static final int MAX_CONCURRENT_CREATIONS = 16;
    private static final int MAX_CONCURRENT_ENDS = 16;
    private static final Duration PAUSE = Duration.ofMillis(500);
    private static final Duration RETRY_DELAY = Duration.ofMillis(20);

    private final List<Creation> creations;
    private final Form form;
    private final BenchmarkApiClient benchmarkApiClient;
    private final JobStatusPatches jobStatusPatches;
    private final Bodies bodies;
    private final Timings timings;
    private final ScheduledThreadPoolExecutor thread =
        new ScheduledThreadPoolExecutor(
            1, task -> Thread.ofPlatform().daemon().name("bench-play").unstarted(task));
    private final BoundedQueue creationQueue = new BoundedQueue(MAX_CONCURRENT_CREATIONS, thread);
    private final BoundedQueue endQueue = new BoundedQueue(MAX_CONCURRENT_ENDS, thread);
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private final CollectionWatch collectionWatch;
    private final TrackedWorkload[] workloads;
    private long start;
    private int next;

    /** Request and body that create a tracked workload. */
    private record Bodies(RequestKey key, String path, Function<Creation, String> body) {}

    /** State of a workload that is not finished. */
    private static final class TrackedWorkload {
      private @Nullable Observation latest;
      private @Nullable ScheduledFuture<?> timer;
      private boolean holds;
      private boolean leaving;
      private long since;
    }

    /** Progress of a run. */
    record Progress(int created, int admitted, int finished, int of) {}

    BenchmarkRun(
        Scenario scenario, BenchmarkTarget benchmarkTarget, BenchmarkApiClient benchmarkApiClient) {
      this.creations = Schedule.of(scenario);
      this.form = scenario.form();
      this.benchmarkApiClient = benchmarkApiClient;
      this.jobStatusPatches = new JobStatusPatches(benchmarkTarget);
      this.timings = new Timings(creations);
      this.workloads = new TrackedWorkload[creations.size()];
      BenchmarkManifests benchmarkManifests = new BenchmarkManifests(scenario, benchmarkTarget);
      this.bodies =
          switch (form) {
            case WORKLOAD ->
                new Bodies(
                    new RequestKey("POST", BenchmarkTarget.GROUP, "workloads", ""),
                    benchmarkTarget.namespaced("workloads"),
                    benchmarkManifests::workload);
            case JOB ->
                new Bodies(
                    new RequestKey("POST", "batch", "jobs", ""),
                    benchmarkTarget.jobs(),
                    benchmarkManifests::job);
          };
      this.collectionWatch =
          new CollectionWatch(
              benchmarkApiClient,
              bodies.path(),
              object -> {
                Observation observation =
                    form == Form.JOB ? Observation.ofJob(object) : Observation.ofWorkload(object);
                thread.execute(() -> seen(observation));
              },
              over::completeExceptionally);
    }

    /**
     * Runs to the end.
     *
     * @param progress called every few seconds
     * @throws BenchException when a request is rejected, or not all workloads ended within {@code
     *     limit}
     */
    Timings run(Duration limit, Consumer<Progress> progress) {
      collectionWatch.start();
      start = System.nanoTime();
      thread.execute(this::create);
      var telling =
          thread.scheduleAtFixedRate(() -> progress.accept(progress()), 10, 10, TimeUnit.SECONDS);
      try {
        over.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        return timings;
      } catch (TimeoutException e) {
        throw new BenchException(
            "not all work ended within %d s: of %d, %d were admitted and %d ended"
                .formatted(
                    limit.toSeconds(), creations.size(), timings.admissions(), timings.finishes()),
            e);
      } catch (ExecutionException e) {
        throw e.getCause() instanceof BenchException told
            ? told
            : new BenchException("the run failed: " + e.getCause(), e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new BenchException("interrupted", e);
      } finally {
        telling.cancel(false);
        collectionWatch.close();
      }
    }

    /** Ends the run with a failure. */
    void abort(String reason) {
      over.completeExceptionally(new BenchException(reason));
    }

    private Progress progress() {
      return new Progress(
          timings.creations(), timings.admissions(), timings.finishes(), creations.size());
    }

    private long now() {
      return System.nanoTime() - start;
    }

    /** Sends the creations that are due and schedules the next call. */
    private void create() {
      while (next < creations.size()) {
        Creation creation = creations.get(next);
        long wait = TimeUnit.MILLISECONDS.toNanos(creation.atMillis()) - now();
        if (wait > 0) {
          later(Duration.ofNanos(wait), this::create);
          return;
        }
        next++;
        String body = bodies.body().apply(creation);
        creationQueue.add(() -> create(creation, body));
      }
    }

    private CompletableFuture<?> create(Creation creation, String body) {
      long sent = now();
      return benchmarkApiClient
          .send(bodies.key(), bodies.path(), body)
          .handleAsync(
              (answer, failure) -> {
                if (answer == null || answer.worthRepeating()) {
                  later(PAUSE, () -> creationQueue.add(() -> create(creation, body)));
                } else if (answer.successful() || answer.code() == 409) {
                  timings.created(creation.ordinal(), sent);
                } else {
                  fail("creation of " + creation.workClass().name() + " refused", answer);
                }
                return null;
              },
              thread);
    }

    private void seen(Observation observation) {
      int ordinal = observation.ordinal();
      TrackedWorkload piece = workloads[ordinal];
      if (observation.failed()) {
        over.completeExceptionally(new BenchException("work " + ordinal + " failed"));
      } else if (observation.finished()) {
        ended(ordinal);
      } else if (piece != null || observation.admitted() || observation.evicted()) {
        TrackedWorkload known = piece != null ? piece : new TrackedWorkload();
        workloads[ordinal] = known;
        known.latest = observation;
        follow(ordinal, known, observation);
      }
    }

    private void follow(int ordinal, TrackedWorkload piece, Observation observation) {
      if (observation.admitted() && !piece.holds) {
        piece.holds = true;
        piece.since = now();
        timings.admitted(ordinal, piece.since);
        if (form == Form.WORKLOAD) {
          int millis = creations.get(ordinal).workClass().runMillis();
          piece.timer = later(Duration.ofMillis(millis), () -> finish(ordinal, piece));
        }
      } else if (!observation.admitted() && piece.holds) {
        stop(ordinal, piece);
      }
      if (observation.evicted() && !piece.leaving) {
        piece.leaving = true;
        endQueue.add(() -> patch(ordinal, piece, jobStatusPatches::released, () -> {}));
      } else if (!observation.evicted()) {
        piece.leaving = false;
      }
    }

    private void stop(int ordinal, TrackedWorkload piece) {
      if (piece.holds) {
        timings.held(ordinal, now() - piece.since);
        piece.holds = false;
      }
      if (piece.timer != null) {
        piece.timer.cancel(false);
        piece.timer = null;
      }
    }

    private void finish(int ordinal, TrackedWorkload piece) {
      endQueue.add(() -> patch(ordinal, piece, jobStatusPatches::finished, () -> ended(ordinal)));
    }

    private void ended(int ordinal) {
      TrackedWorkload piece = workloads[ordinal];
      if (piece != null) {
        stop(ordinal, piece);
        workloads[ordinal] = null;
      }
      timings.finished(ordinal, now());
      if (timings.complete()) {
        over.complete(null);
      }
    }

    private CompletableFuture<?> patch(
        int ordinal, TrackedWorkload piece, Function<Observation, String> body, Runnable done) {
      Observation observation = piece.latest;
      if (observation == null || workloads[ordinal] != piece) {
        return CompletableFuture.completedFuture(null);
      }
      Supplier<CompletableFuture<?>> again = () -> patch(ordinal, piece, body, done);
      return benchmarkApiClient
          .send(
              JobStatusPatches.KEY,
              jobStatusPatches.path(creations.get(ordinal)),
              body.apply(observation))
          .handleAsync(
              (answer, failure) -> {
                if (answer == null || answer.worthRepeating()) {
                  later(PAUSE, () -> endQueue.add(again));
                } else if (answer.code() == 409) {
                  later(RETRY_DELAY, () -> again(piece, again));
                } else if (answer.successful()) {
                  done.run();
                } else {
                  fail("status of work " + ordinal + " refused", answer);
                }
                return null;
              },
              thread);
    }

    /**
     * Repeats a request after a conflict if it is still valid: evictions are handled separately.
     */
    private void again(TrackedWorkload piece, Supplier<CompletableFuture<?>> request) {
      if (piece.holds || piece.leaving) {
        endQueue.add(request);
      }
    }

    private ScheduledFuture<?> later(Duration pause, Runnable task) {
      return thread.schedule(task, pause.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void fail(String what, Answer answer) {
      over.completeExceptionally(new BenchException(what + ": " + answer.text()));
    }

    @Override
    public void close() {
      collectionWatch.close();
      thread.shutdownNow();
    }

    /**
     * Sends requests in order, with limited concurrency. Confined to the thread of its executor.
     */
    private static final class BoundedQueue {

      private final int maxConcurrent;
      private final Executor executor;
      private final Deque<Supplier<CompletableFuture<?>>> waiting = new ArrayDeque<>();
      private int inFlight;

      /**
       * Creates a queue.
       *
       * @param maxConcurrent maximum number of concurrent requests
       * @param executor runs everything else
       */
      BoundedQueue(int maxConcurrent, Executor executor) {
        this.maxConcurrent = maxConcurrent;
        this.executor = executor;
      }

      /** Sends the request as soon as the limit permits. */
      void add(Supplier<CompletableFuture<?>> request) {
        waiting.add(request);
        sendWhatMay();
      }

      private void sendWhatMay() {
        while (inFlight < maxConcurrent && !waiting.isEmpty()) {
          inFlight++;
          var unused =
              waiting
                  .remove()
                  .get()
                  .whenCompleteAsync(
                      (answer, failure) -> {
                        inFlight--;
                        sendWhatMay();
                      },
                      executor);
        }
      }
    }
  }

  /** Status patches that a job controller would write to a Workload. */
  static final class JobStatusPatches {

    static final RequestKey KEY =
        new RequestKey("PATCH", BenchmarkTarget.GROUP, "workloads", "status");

    private final BenchmarkTarget benchmarkTarget;
    private final InstantSource clock = InstantSource.system();

    JobStatusPatches(BenchmarkTarget benchmarkTarget) {
      this.benchmarkTarget = benchmarkTarget;
    }

    String path(Creation creation) {
      return benchmarkTarget.namespaced("workloads")
          + "/"
          + benchmarkTarget.work(creation)
          + "/status";
    }

    /** The job finished successfully. */
    String finished(Observation observation) {
      JsonNode conditions =
          Condition.with(
              observation.conditions(),
              "Finished",
              true,
              "Succeeded",
              "The benchmark let it run",
              clock.instant());
      return patch(observation, JsonNodeFactory.instance.objectNode(), conditions);
    }

    /** The job was stopped and its quota is released. */
    String released(Observation observation) {
      JsonNode conditions = observation.conditions();
      String reason = benchmarkTarget.version().equals("v1beta1") ? "Pending" : "PendingEvaluation";
      conditions =
          Condition.with(conditions, "QuotaReserved", false, reason, "Stopped", clock.instant());
      conditions =
          Condition.with(
              conditions,
              "Admitted",
              false,
              "NoReservation",
              "The workload has no reservation",
              clock.instant());
      conditions =
          Condition.with(conditions, "Requeued", true, "Preempted", "Stopped", clock.instant());
      ObjectNode status = JsonNodeFactory.instance.objectNode();
      status.putNull("admission");
      return patch(observation, status, conditions);
    }

    /**
     * A merge patch that the API server rejects if the object has changed since the observation.
     */
    private static String patch(Observation observation, ObjectNode status, JsonNode conditions) {
      ObjectNode root = JsonNodeFactory.instance.objectNode();
      root.putObject("metadata").put("resourceVersion", observation.version());
      status.set("conditions", conditions);
      root.set("status", status);
      return root.toString();
    }
  }

  /**
   * Last observed state of a workload.
   *
   * @param ordinal its number
   * @param admitted whether it may run and is not being evicted
   * @param evicted whether it must release its quota
   * @param finished whether it has finished
   * @param failed whether it failed
   * @param version its resource version
   * @param conditions its conditions
   */
  record Observation(
      int ordinal,
      boolean admitted,
      boolean evicted,
      boolean finished,
      boolean failed,
      String version,
      JsonNode conditions) {

    /** Reads a Workload. */
    static Observation ofWorkload(JsonNode object) {
      boolean gives = Condition.holds(object, "Evicted");
      return new Observation(
          ordinal(object),
          Condition.holds(object, "Admitted") && !gives,
          gives && Condition.holds(object, "QuotaReserved"),
          Condition.holds(object, "Finished"),
          false,
          object.path("metadata").path("resourceVersion").asText(),
          object.path("status").path("conditions"));
    }

    /** Reads a Job; a Job is admitted when it is not suspended. */
    static Observation ofJob(JsonNode object) {
      return new Observation(
          ordinal(object),
          !object.path("spec").path("suspend").asBoolean(false),
          false,
          Condition.holds(object, "Complete"),
          Condition.holds(object, "Failed"),
          object.path("metadata").path("resourceVersion").asText(),
          object.path("status").path("conditions"));
    }

    private static int ordinal(JsonNode object) {
      return BenchmarkTarget.ordinal(object.path("metadata").path("name").asText());
    }
  }
}
