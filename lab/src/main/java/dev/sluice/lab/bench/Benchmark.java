package dev.sluice.lab.bench;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

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
}
