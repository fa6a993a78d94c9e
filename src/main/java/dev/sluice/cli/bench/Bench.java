package dev.sluice.cli.bench;

import java.time.Duration;
import java.util.function.Consumer;

/** Runs one scenario against one installation, and measures it. */
final class Bench {

  private final Scenario scenario;
  private final Installation installation;
  private final Duration limit;
  private final Consumer<String> tell;

  /** Gives up after {@code limit}; {@code tell} gets lines about progress. */
  Bench(Scenario scenario, Installation installation, Duration limit, Consumer<String> tell) {
    this.scenario = scenario;
    this.installation = installation;
    this.limit = limit;
    this.tell = tell;
  }

  /**
   * The figures of one run.
   *
   * @param version of the API to speak; the newest that is served when empty
   * @param run name of the run, unlike that of any other in the cluster
   * @throws BenchException when not all work ended
   */
  Figures run(String version, String run) {
    try (Server server = new Server(installation.kubeconfig())) {
      String spoken = version.isEmpty() ? Stage.servedVersion(server) : version;
      Target target = new Target(run, spoken);
      Stage stage = new Stage(scenario, target, server);
      try {
        stage.setUp();
        tell.accept(
            "%d queues are active, %d workloads follow (%s)"
                .formatted(scenario.queues(), scenario.size(), spoken));
        return measured(target, server);
      } finally {
        if (!installation.passing()) {
          stage.takeDown();
        }
      }
    }
  }

  private Figures measured(Target target, Server server) {
    try (Play play = new Play(scenario, target, server)) {
      Figures.Reading before = read(server);
      Timings timings = play.run(limit, this::tell);
      return Figures.of(scenario, timings, before, read(server));
    }
  }

  private Figures.Reading read(Server server) {
    return new Figures.Reading(
        server.metrics(),
        ProcessReading.of(installation.operatorPid()),
        ProcessReading.of(ProcessHandle.current().pid()),
        server.sent());
  }

  private void tell(Play.Progress progress) {
    tell.accept(
        "%d of %d created, %d admitted, %d finished"
            .formatted(
                progress.created(), progress.of(), progress.admitted(), progress.finished()));
  }
}
