package dev.sluice.lab.bench;

import dev.sluice.lab.controlplane.BinariesOption;
import dev.sluice.lab.controlplane.ControlPlaneException;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code sluice bench}: runs a scenario and prints its figures. */
@Command(
    name = "bench",
    description = {
      "Runs a scenario against a whole installation, and prints what it cost.",
      "It brings up a control plane and an operator of its own; with --kubeconfig and"
          + " --operator-pid it drives any installation that speaks the API, and removes its"
          + " objects at the end."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:all work was admitted and ended",
      "1:it was not; the message says why",
      "2:the command line or the scenario is wrong",
      "3:the control plane's programs can't be had"
    })
public final class BenchCommand implements Callable<Integer> {

  private static final String FLOOR = "floor";

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      index = "0",
      paramLabel = "SCENARIO",
      defaultValue = "baseline",
      description =
          "baseline, large, jobs, jobs-small, topology, mini, mini-topology, or a file; floor is"
              + " baseline with --floor (default:"
              + " ${DEFAULT-VALUE}).")
  private String scenario = "baseline";

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Also write the figures to this file.")
  private @Nullable Path json;

  @Option(
      names = "--floor",
      description =
          "Without an operator: a process that admits everything with one bare status patch. Jobs"
              + " are created as Workloads.")
  private boolean floor;

  @Option(
      names = "--against",
      paramLabel = "FILE",
      description =
          "The figures that a run with --floor wrote with --json: ratios to them are printed.")
  private @Nullable Path against;

  @Option(
      names = "--kubeconfig",
      paramLabel = "FILE",
      description = "A cluster in which an operator is at work, on this machine.")
  private @Nullable Path kubeconfig;

  @Option(
      names = "--operator-pid",
      paramLabel = "PID",
      description = "With --kubeconfig: the operator's process.")
  private @Nullable Long operatorPid;

  @Option(
      names = "--api-version",
      paramLabel = "VERSION",
      description = "v1beta2 or v1beta1 (default: the newest that the cluster serves).")
  private String apiVersion = "";

  @Option(
      names = "--operator-arg",
      paramLabel = "ARG",
      description = "A further argument of the own operator. May be repeated.")
  private List<String> operatorArguments = new ArrayList<>();

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "3600",
      description = "When to give up (default: ${DEFAULT-VALUE}).")
  private int timeoutSeconds = 3600;

  @Mixin private BinariesOption binaries = new BinariesOption();

  @Override
  public Integer call() {
    Scenario chosen = chosen();
    Optional<FloorRatios> ratios = ratios();
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    err.printf(
        Locale.ROOT,
        "%s: %,d workloads in %d queues; the run itself takes at least %.0f s%n",
        chosen.name(),
        chosen.size(),
        chosen.queues(),
        chosen.idealSeconds());
    err.flush();
    String run = "bench-" + Long.toString(System.currentTimeMillis(), 36);
    try (Installation installation = installation(run, chosen)) {
      Figures figures =
          new Benchmark(
                  chosen,
                  installation,
                  Duration.ofSeconds(timeoutSeconds),
                  line -> {
                    err.println(line);
                    err.flush();
                  })
              .run(apiVersion, run);
      out.print(
          ratios
              .map(denominators -> FiguresText.of(figures, denominators))
              .orElseGet(() -> FiguresText.of(figures)));
      out.flush();
      if (json != null) {
        Files.writeString(json, FiguresJson.of(figures).toPrettyString() + "\n");
      }
      return 0;
    } catch (BenchException | ControlPlaneException e) {
      err.println("sluice: " + e.getMessage());
      return 1;
    } catch (IOException e) {
      err.println("sluice: can't write " + json + ": " + e);
      return 1;
    } catch (BinariesMissingException e) {
      err.println(e.getMessage());
      return 3;
    }
  }

  private Scenario chosen() {
    if (!List.of("", "v1beta1", "v1beta2").contains(apiVersion)) {
      throw wrong("--api-version is \"" + apiVersion + "\", must be v1beta2 or v1beta1");
    }
    if ((kubeconfig == null) != (operatorPid == null)) {
      throw wrong("--kubeconfig and --operator-pid go together");
    }
    if (timeoutSeconds < 1) {
      throw wrong("--timeout is " + timeoutSeconds + ", must be 1 or more");
    }
    if (isFloor() && kubeconfig != null) {
      throw wrong("--floor needs no operator, so --kubeconfig has no meaning");
    }
    try {
      return scenario.equals(FLOOR)
          ? ScenarioReader.find("baseline").asWorkloads(FLOOR)
          : floor
              ? ScenarioReader.find(scenario).asWorkloads(scenario + ", floor")
              : ScenarioReader.find(scenario);
    } catch (BenchException e) {
      throw wrong(String.valueOf(e.getMessage()));
    }
  }

  private boolean isFloor() {
    return floor || scenario.equals(FLOOR);
  }

  private Optional<FloorRatios> ratios() {
    try {
      return Optional.ofNullable(against).map(FloorRatios::read);
    } catch (BenchException e) {
      throw wrong(String.valueOf(e.getMessage()));
    }
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  private Installation installation(String name, Scenario chosen) throws BinariesMissingException {
    if (kubeconfig != null && operatorPid != null) {
      return new Installation.Given(kubeconfig, operatorPid);
    }
    if (isFloor()) {
      return FloorInstallation.start(name, binaries.obtain());
    }
    return Installation.Own.start(
        name, binaries.obtain(), chosen.form() == Scenario.Form.JOB, operatorArguments);
  }
}
