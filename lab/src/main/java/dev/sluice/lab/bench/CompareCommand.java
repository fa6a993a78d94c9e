package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.bench.ProcessReading.Memory;
import dev.sluice.lab.controlplane.BinariesOption;
import dev.sluice.lab.controlplane.ControlPlaneException;
import dev.sluice.lab.controlplane.binaries.Binaries;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code sluice bench compare}: two operators, one after the other, on one machine. */
@Command(
    name = "compare",
    description = {
      "Measures another operator and this one, one after the other on this machine, without work"
          + " and with scenarios, and prints one table.",
      "The other one is started by a command: of another project that speaks the API, or of another"
          + " version of this one. Each run has a control plane of its own."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:all work was admitted and ended, with both",
      "1:it was not; the message says why",
      "2:the command line or a scenario is wrong",
      "3:the control plane's programs can't be had"
    })
public final class CompareCommand implements Callable<Integer> {

  private static final String IDLE = "idle";

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      paramLabel = "SCENARIO",
      defaultValue = "jobs-small",
      description = "As for bench; may be repeated (default: ${DEFAULT-VALUE}).")
  private List<String> scenarios = new ArrayList<>();

  @Option(
      names = "--other",
      paramLabel = "COMMAND",
      required = true,
      description =
          "Starts the other operator, as a shell reads it; {kubeconfig} and the variable KUBECONFIG"
              + " name a file with an account that may do everything.")
  private String other = "";

  @Option(
      names = "--other-name",
      paramLabel = "NAME",
      defaultValue = "other",
      description = "Its name in the table (default: ${DEFAULT-VALUE}).")
  private String otherName = "other";

  @Option(
      names = "--other-manifests",
      paramLabel = "FILE",
      description = "What is applied before its start: its definitions. May be repeated.")
  private List<Path> otherManifests = new ArrayList<>();

  @Option(
      names = "--other-ready",
      paramLabel = "URL",
      description =
          "Answers 200 when it is ready; without, it is ready when the cluster serves its kinds.")
  private @Nullable URI otherReady;

  @Option(
      names = "--idle",
      paramLabel = "SECONDS",
      defaultValue = "120",
      description =
          "How long both are left without work before they are read; the processor time is that of"
              + " the second half. 0: not at all (default: ${DEFAULT-VALUE}).")
  private int idleSeconds = 120;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "1",
      description = "How often; the table has medians (default: ${DEFAULT-VALUE}).")
  private int rounds = 1;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "3600",
      description = "When to give a scenario up (default: ${DEFAULT-VALUE}).")
  private int timeoutSeconds = 3600;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Also write all figures of all rounds to this file.")
  private @Nullable Path json;

  @Mixin private BinariesOption binaries = new BinariesOption();

  /** Starts an operator in a control plane of its own; pods run there or not. */
  private interface Start {
    Installation with(String run, boolean podsRun);
  }

  @Override
  public Integer call() {
    List<Scenario> chosen = chosen();
    try {
      ComparedFigures compared = compare(chosen, binaries.obtain());
      PrintWriter out = spec.commandLine().getOut();
      out.print(compared.text());
      out.flush();
      if (json != null) {
        Files.writeString(json, compared.json().toPrettyString() + "\n");
      }
      return 0;
    } catch (BenchException | ControlPlaneException e) {
      tell("sluice: " + e.getMessage());
      return 1;
    } catch (IOException e) {
      tell("sluice: can't write " + json + ": " + e);
      return 1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      tell("sluice: interrupted");
      return 1;
    } catch (BinariesMissingException e) {
      tell(String.valueOf(e.getMessage()));
      return 3;
    }
  }

  private List<Scenario> chosen() {
    atLeast("--idle", idleSeconds, 0);
    atLeast("--rounds", rounds, 1);
    atLeast("--timeout", timeoutSeconds, 1);
    try {
      return scenarios.stream().map(ScenarioReader::find).toList();
    } catch (BenchException e) {
      throw wrong(String.valueOf(e.getMessage()));
    }
  }

  private void atLeast(String option, int value, int least) {
    if (value < least) {
      throw wrong("%s is %d, must be %d or more".formatted(option, value, least));
    }
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  private void tell(String line) {
    spec.commandLine().getErr().println(line);
    spec.commandLine().getErr().flush();
  }

  private ComparedFigures compare(List<Scenario> chosen, Binaries obtainedBinaries)
      throws InterruptedException {
    CommandInstallation.Other theirs =
        new CommandInstallation.Other(
            otherName, other, otherManifests, Optional.ofNullable(otherReady));
    Map<String, Start> sides = new LinkedHashMap<>();
    sides.put(
        otherName,
        (run, podsRun) -> CommandInstallation.other(run, obtainedBinaries, podsRun, theirs));
    sides.put(
        ComparedFigures.OURS,
        (run, podsRun) ->
            Installation.Own.start(
                run,
                obtainedBinaries,
                podsRun,
                new Installation.OperatorOptions("", List.of(), List.of())));
    ComparedFigures compared = new ComparedFigures(otherName);
    for (int round = 1; round <= rounds; round++) {
      for (Map.Entry<String, Start> side : sides.entrySet()) {
        if (idleSeconds > 0) {
          tell("round %d: %s, idle".formatted(round, side.getKey()));
          idle(side.getKey(), side.getValue(), compared);
        }
        for (Scenario scenario : chosen) {
          tell("round %d: %s, %s".formatted(round, side.getKey(), scenario.name()));
          run(side.getKey(), side.getValue(), scenario, compared);
        }
      }
    }
    return compared;
  }

  private void idle(String side, Start start, ComparedFigures compared)
      throws InterruptedException {
    try (Installation installation = start.with(BenchmarkTarget.newRun(), false)) {
      long pid = installation.operatorPid();
      rest(installation, idleSeconds / 2.0);
      Duration before = ProcessReading.of(pid).cpu();
      double measured = idleSeconds - idleSeconds / 2.0;
      rest(installation, measured);
      Memory memory = Memory.of(pid);
      Duration used = ProcessReading.of(pid).cpu().minus(before);
      compared.add(IDLE, "RSS, MiB", side, memory.residentKiB() / 1024.0);
      compared.add(IDLE, "of it anonymous, MiB", side, memory.anonymousKiB() / 1024.0);
      compared.add(IDLE, "operator CPU a minute, ms", side, used.toMillis() * 60.0 / measured);
    }
  }

  private static void rest(Installation installation, double seconds) throws InterruptedException {
    try {
      String ended = installation.ended().get(Math.round(seconds * 1000), TimeUnit.MILLISECONDS);
      throw new BenchException(ended);
    } catch (TimeoutException asHoped) {
      // the operator is still there
    } catch (ExecutionException e) {
      throw new BenchException("the operator can't be followed: " + e.getCause(), e);
    }
  }

  private void run(String side, Start start, Scenario scenario, ComparedFigures compared) {
    String run = BenchmarkTarget.newRun();
    boolean podsRun = scenario.form() == Scenario.Form.JOB;
    try (Installation installation = start.with(run, podsRun);
        MemoryPeak memory = new MemoryPeak(installation.operatorPid())) {
      Figures figures =
          new Benchmark(scenario, installation, Duration.ofSeconds(timeoutSeconds), this::tell)
              .run("", run);
      compared.add(scenario.name(), side, figures, memory.peak());
    }
  }

  /** The greatest memory that a process was seen with, twice a second. */
  private static final class MemoryPeak implements AutoCloseable {

    private volatile Memory peakMemory = Memory.NONE;
    private final ScheduledExecutorService thread =
        Executors.newSingleThreadScheduledExecutor(
            task -> Thread.ofPlatform().daemon().name("bench-memory").unstarted(task));

    MemoryPeak(long pid) {
      var unused =
          thread.scheduleAtFixedRate(
              () -> peakMemory = peakMemory.max(Memory.of(pid)), 0, 500, TimeUnit.MILLISECONDS);
    }

    Memory peak() {
      return peakMemory;
    }

    @Override
    public void close() {
      thread.shutdownNow();
    }
  }

  /** The figures of two operators, in the order in which they are added. */
  static final class ComparedFigures {

    /** The name of this project's operator. */
    static final String OURS = "Sluice";

    /** What a row of the table tells. */
    private record Row(String scenario, String figure) {}

    private final String theirs;
    private final Map<Row, Map<String, List<Double>>> rows = new LinkedHashMap<>();

    /** Creates an empty table, given the other operator's name. */
    ComparedFigures(String theirs) {
      this.theirs = theirs;
    }

    /** Adds a figure of a round. */
    void add(String scenario, String figure, String side, double value) {
      rows.computeIfAbsent(new Row(scenario, figure), any -> new LinkedHashMap<>())
          .computeIfAbsent(side, any -> new ArrayList<>())
          .add(value);
    }

    /** Adds the figures of a run, and the peak of the operator's memory. */
    void add(String scenario, String side, Figures figures, Memory peakMemory) {
      add(scenario, "wall time, s", side, figures.wallSeconds());
      add(scenario, "quota use, %", side, figures.quotaUse() * 100);
      add(scenario, "operator CPU, ms each", side, figures.operatorCpuMillisPerWorkload());
      figures
          .operatorCpuMillisInLastThird()
          .ifPresent(millis -> add(scenario, "in the last third, ms each", side, millis));
      add(
          scenario,
          "operator writes without Events, each",
          side,
          figures.operatorWritesPerWorkload() - figures.operatorEventsPerWorkload());
      add(scenario, "Events, each", side, figures.operatorEventsPerWorkload());
      add(scenario, "API server CPU, ms each", side, figures.apiServerCpuMillisPerWorkload());
      add(scenario, "peak RSS, MiB", side, figures.peakRssMiB());
      add(scenario, "peak anonymous, MiB", side, peakMemory.anonymousKiB() / 1024.0);
    }

    /** A table in Markdown that ends with a line break: medians, and ours divided by theirs. */
    String text() {
      StringBuilder text = new StringBuilder();
      text.append("| | | ").append(theirs).append(" | ").append(OURS).append(" | ratio |\n");
      text.append("|---|---|---:|---:|---:|\n");
      rows.forEach(
          (row, sides) -> {
            double other = median(sides.getOrDefault(theirs, List.of()));
            double ours = median(sides.getOrDefault(OURS, List.of()));
            text.append(
                String.format(
                    Locale.ROOT,
                    "| %s | %s | %s | %s | %s |%n",
                    row.scenario(),
                    row.figure(),
                    number(other),
                    number(ours),
                    other == 0 ? "–" : number(ours / other)));
          });
      return text.toString();
    }

    private static String number(double value) {
      return Double.isNaN(value)
          ? "–"
          : String.format(
              Locale.ROOT, value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value);
    }

    private static double median(List<Double> values) {
      if (values.isEmpty()) {
        return Double.NaN;
      }
      List<Double> sorted = values.stream().sorted().toList();
      int half = sorted.size() / 2;
      return sorted.size() % 2 == 1
          ? sorted.get(half)
          : (sorted.get(half - 1) + sorted.get(half)) / 2;
    }

    /** Each row with the figures of all rounds. */
    ArrayNode json() {
      ArrayNode all = JsonNodeFactory.instance.arrayNode();
      rows.forEach(
          (row, sides) -> {
            ObjectNode node = all.addObject();
            node.put("scenario", row.scenario()).put("figure", row.figure());
            ObjectNode values = node.putObject("values");
            sides.forEach((side, each) -> each.forEach(values.withArrayProperty(side)::add));
          });
      return all;
    }
  }
}
