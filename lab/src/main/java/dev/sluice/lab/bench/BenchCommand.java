package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.lab.bench.backfill.BackfillCommand;
import dev.sluice.lab.bench.estimates.EstimatesCommand;
import dev.sluice.lab.bench.month.MonthCommand;
import dev.sluice.lab.controlplane.BinariesOption;
import dev.sluice.lab.controlplane.ControlPlaneException;
import dev.sluice.lab.controlplane.binaries.BinariesMissingException;
import java.io.IOException;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
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
    subcommands = {
      BackfillCommand.class,
      CompareCommand.class,
      EstimatesCommand.class,
      MonthCommand.class,
      StartCommand.class
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:all work was admitted and ended",
      "1:it was not; the message says why",
      "2:the command line or the scenario is wrong",
      "3:the control plane's programs can't be had"
    })
public final class BenchCommand implements Callable<Integer> {

  private static final String FLOOR = "floor";
  private static final String WEBHOOKS = "webhooks";
  private static final int REVIEWS_PER_SECOND = 200;

  /** Enough for 99 % of a run of minutes, and few enough that they don't make it slower. */
  private static final int BARE_PER_SECOND = 20;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      index = "0",
      paramLabel = "SCENARIO",
      defaultValue = "baseline",
      description =
          "baseline, baseline-small, large, jobs, jobs-small, jobs-mini, jobs-topology, topology,"
              + " mini, mini-topology, or a file; floor is baseline with --floor, webhooks is"
              + " baseline with --reviews-per-second 200 (default: ${DEFAULT-VALUE}).")
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
      names = "--operator-config",
      paramLabel = "YAML",
      defaultValue = "",
      description = "Further fields of the own operator's configuration: 'podAccounting: Prevent'.")
  private String operatorFields = "";

  @Option(
      names = "--reviews-per-second",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "While the scenario runs, also send N admission reviews a second to the webhooks that"
              + " are registered by URL, and tell how long the answers took.")
  private int reviewsPerSecond;

  @Option(
      names = "--poisoned-per-second",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "Beside these, send N reviews a second of Jobs that cost their reader most, all of one"
              + " user.")
  private int poisonedPerSecond;

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
        "%s: %,d workloads in %d queues; the run itself takes at least %.0f s, on two cores about"
            + " %.0f s%n",
        chosen.name(),
        chosen.size(),
        chosen.queues(),
        chosen.idealSeconds(),
        chosen.secondsOnTwoCores());
    err.flush();
    String run = BenchmarkTarget.newRun();
    try (Installation installation = installation(run, chosen)) {
      measure(chosen, installation, run, ratios, out, err);
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

  private void measure(
      Scenario chosen,
      Installation installation,
      String run,
      Optional<FloorRatios> ratios,
      PrintWriter out,
      PrintWriter err)
      throws IOException {
    int rate = reviewsPerSecond == 0 && isWebhooks() ? REVIEWS_PER_SECOND : reviewsPerSecond;
    try (ReviewLoad load = rate == 0 ? null : ReviewLoad.of(installation.kubeconfig(), rate);
        ReviewLoad poisoned =
            poisonedPerSecond == 0
                ? null
                : ReviewLoad.poisoned(installation.kubeconfig(), poisonedPerSecond);
        ImmediateAnswers answers = rate == 0 ? null : ImmediateAnswers.start();
        ReviewLoad bare =
            answers == null ? null : ReviewLoad.at(answers.address(), BARE_PER_SECOND)) {
      Figures figures =
          new Benchmark(
                  chosen,
                  installation,
                  Duration.ofSeconds(timeoutSeconds),
                  line -> {
                    err.println(line);
                    err.flush();
                  },
                  Stream.of(load, bare, poisoned).flatMap(Stream::ofNullable).toList())
              .run(apiVersion, run);
      out.print(
          ratios
              .map(denominators -> FiguresText.of(figures, denominators))
              .orElseGet(() -> FiguresText.of(figures)));
      ObjectNode document = FiguresJson.of(figures);
      if (load != null && bare != null) {
        out.print(load.figures().text("webhooks"));
        out.print(bare.figures().text("a process that answers at once"));
        load.figures().into(document.putObject("webhooks"));
        bare.figures().into(document.putObject("immediateAnswers"));
      }
      if (poisoned != null) {
        out.print(poisoned.figures().text("poisoned reviews"));
        poisoned.figures().into(document.putObject("poisonedReviews"));
      }
      out.flush();
      if (json != null) {
        Files.writeString(json, document.toPrettyString() + "\n");
      }
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
    if (reviewsPerSecond < 0 || reviewsPerSecond > 10_000) {
      throw wrong("--reviews-per-second is " + reviewsPerSecond + ", must be 0 to 10000");
    }
    if (poisonedPerSecond < 0 || poisonedPerSecond > 1_000) {
      throw wrong("--poisoned-per-second is " + poisonedPerSecond + ", must be 0 to 1000");
    }
    if (isFloor() && reviewsPerSecond + poisonedPerSecond > 0) {
      throw wrong("--floor has no webhooks, so reviews per second have no meaning");
    }
    if (isFloor() && kubeconfig != null) {
      throw wrong("--floor needs no operator, so --kubeconfig has no meaning");
    }
    try {
      return scenario.equals(FLOOR)
          ? ScenarioReader.find("baseline").asWorkloads(FLOOR)
          : isWebhooks()
              ? ScenarioReader.find("baseline")
              : floor
                  ? ScenarioReader.find(scenario).asWorkloads(scenario + ", floor")
                  : ScenarioReader.find(scenario);
    } catch (BenchException e) {
      throw wrong(String.valueOf(e.getMessage()));
    }
  }

  private boolean isWebhooks() {
    return scenario.equals(WEBHOOKS);
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
      return CommandInstallation.floor(name, binaries.obtain());
    }
    return Installation.Own.start(
        name,
        binaries.obtain(),
        chosen.form() == Scenario.Form.JOB,
        new Installation.OperatorOptions(operatorFields, operatorArguments, List.of()));
  }

  /** Writes figures as JSON. */
  static final class FiguresJson {

    private FiguresJson() {}

    /** Numbers are rounded to three decimal places. */
    static ObjectNode of(Figures figures) {
      ObjectNode root = JsonNodeFactory.instance.objectNode();
      root.put("scenario", figures.scenario()).put("workloads", figures.workloads());
      put(root, "wallSeconds", figures.wallSeconds());
      put(root, "idealSeconds", figures.idealSeconds());
      put(root, "admissionsPerSecond", figures.admissionsPerSecond());
      put(root, "quotaUse", figures.quotaUse());
      put(root, "operatorWritesPerWorkload", figures.operatorWritesPerWorkload());
      put(root, "operatorEventsPerWorkload", figures.operatorEventsPerWorkload());
      put(root, "operatorCpuMillisPerWorkload", figures.operatorCpuMillisPerWorkload());
      figures
          .operatorCpuMillisInLastThird()
          .ifPresent(millis -> put(root, "operatorCpuMillisInLastThird", millis));
      put(root, "apiServerCpuMillisPerWorkload", figures.apiServerCpuMillisPerWorkload());
      put(root, "peakRssMiB", figures.peakRssMiB());
      put(root, "runnerCpuMillisPerWorkload", figures.runnerCpuMillisPerWorkload());
      put(root, "creationsLateSeconds", figures.mostLateSeconds());
      ObjectNode means = root.putObject("timeToAdmissionSeconds");
      figures.waits().forEach((name, waits) -> put(means, name, waits.mean()));
      ObjectNode classes = root.putObject("classes");
      figures.waits().forEach((name, waits) -> waits(classes.putObject(name), waits));
      writes(root.putObject("operatorWrites"), figures.writes().operator());
      writes(root.putObject("otherWrites"), figures.writes().others());
      ObjectNode writers = root.putObject("writers");
      figures.writes().writers().forEach((name, writes) -> writes(writers.putObject(name), writes));
      return root;
    }

    private static void waits(ObjectNode json, Timings.Waits waits) {
      json.put("count", waits.count());
      put(json, "timeToAdmissionSeconds", waits.mean());
      put(json, "medianSeconds", waits.median());
      put(json, "p99Seconds", waits.p99());
      put(json, "maxSeconds", waits.max());
    }

    private static void writes(ObjectNode json, Map<RequestKey, Long> writes) {
      writes.forEach((key, count) -> json.put(key.text(), json.path(key.text()).asLong(0) + count));
    }

    private static void put(ObjectNode json, String field, double value) {
      json.put(field, BigDecimal.valueOf(value).setScale(3, RoundingMode.HALF_UP));
    }
  }

  /** Writes figures as text. */
  static final class FiguresText {

    private FiguresText() {}

    /** A table that ends with a line break, with how many times the floor each cost was. */
    static String of(Figures figures, FloorRatios floor) {
      StringBuilder text = new StringBuilder(of(figures));
      ratio(text, "wall time / floor", figures.wallSeconds() / floor.wallSeconds());
      ratio(text, "operator writes / floor", figures.operatorWritesPerWorkload() / floor.writes());
      ratio(
          text,
          "API server CPU / floor",
          figures.apiServerCpuMillisPerWorkload() / floor.apiServerCpuMillis());
      return text.toString();
    }

    private static void ratio(StringBuilder text, String name, double value) {
      line(text, name, "%.2f", value);
    }

    /** A table that ends with a line break. */
    static String of(Figures figures) {
      StringBuilder text = new StringBuilder();
      line(text, "scenario", "%s, %d workloads", figures.scenario(), figures.workloads());
      line(
          text,
          "wall time",
          "%.1f s (ideal %.1f s); creation up to %.1f s behind its schedule",
          figures.wallSeconds(),
          figures.idealSeconds(),
          figures.mostLateSeconds());
      line(text, "admissions", "%.1f /s", figures.admissionsPerSecond());
      figures
          .waits()
          .forEach(
              (name, waits) ->
                  line(
                      text,
                      "time to admission, " + name,
                      "mean %.2f s, median %.2f s, p99 %.2f s, max %.2f s",
                      waits.mean(),
                      waits.median(),
                      waits.p99(),
                      waits.max()));
      line(text, "quota use", "%.1f %%", figures.quotaUse() * 100);
      line(
          text,
          "operator writes",
          "%.3f /workload; %.3f without Events",
          figures.operatorWritesPerWorkload(),
          figures.operatorWritesPerWorkload() - figures.operatorEventsPerWorkload());
      writes(text, figures.writes().operator(), figures.workloads());
      line(text, "operator CPU", "%.2f ms/workload", figures.operatorCpuMillisPerWorkload());
      figures
          .operatorCpuMillisInLastThird()
          .ifPresent(millis -> line(text, "  in the last third", "%.2f ms/workload", millis));
      line(text, "operator peak RSS", "%.0f MiB", figures.peakRssMiB());
      line(text, "API server CPU", "%.2f ms/workload", figures.apiServerCpuMillisPerWorkload());
      line(text, "this runner's CPU", "%.2f ms/workload", figures.runnerCpuMillisPerWorkload());
      figures
          .writes()
          .writers()
          .forEach(
              (name, writes) -> {
                line(text, "writes of", "%s", name);
                writes(text, writes, figures.workloads());
              });
      if (figures.writes().writers().isEmpty() && !figures.writes().others().isEmpty()) {
        line(text, "others' writes", "of the cluster's own programs");
        writes(text, figures.writes().others(), figures.workloads());
      }
      return text.toString();
    }

    private static void writes(StringBuilder text, Map<RequestKey, Long> writes, int workloads) {
      writes.forEach(
          (key, count) ->
              line(
                  text,
                  "  " + key.text(),
                  "%d (%.3f /workload)",
                  count,
                  (double) count / workloads));
    }

    private static void line(StringBuilder text, String name, String format, Object... values) {
      text.append(String.format(Locale.ROOT, "%-36s", name))
          .append(String.format(Locale.ROOT, format, values))
          .append('\n');
    }
  }

  /**
   * The figures of a run with the {@link Floor}, as {@code --json} wrote them: the denominators of
   * ratios.
   *
   * @param wallSeconds the wall time
   * @param apiServerCpuMillis processor time of the API server, per workload
   * @param writes writes of the process that admits, per workload
   */
  record FloorRatios(double wallSeconds, double apiServerCpuMillis, double writes) {

    /**
     * Reads a file of figures.
     *
     * @throws BenchException when it is missing or has other contents
     */
    static FloorRatios read(Path file) {
      try {
        JsonNode figures = JsonMappers.JSON.readTree(file.toFile());
        return new FloorRatios(
            positive(file, figures, "wallSeconds"),
            positive(file, figures, "apiServerCpuMillisPerWorkload"),
            positive(file, figures, "operatorWritesPerWorkload"));
      } catch (IOException e) {
        throw new BenchException("can't read figures from " + file + ": " + e.getMessage(), e);
      }
    }

    private static double positive(Path file, JsonNode figures, String field) {
      double value = figures.path(field).asDouble();
      if (value <= 0) {
        throw new BenchException(file + ": " + field + " must be greater than 0");
      }
      return value;
    }
  }
}
