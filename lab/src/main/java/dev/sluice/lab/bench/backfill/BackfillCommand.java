package dev.sluice.lab.bench.backfill;

import dev.sluice.forecast.trace.TraceJob;
import dev.sluice.lab.bench.Timings;
import dev.sluice.lab.bench.backfill.BackfillTrial.Order;
import dev.sluice.lab.bench.backfill.BackfillTrial.Outcome;
import dev.sluice.lab.bench.month.SvgChart;
import dev.sluice.lab.bench.trace.TraceOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sluice bench backfill}: plays the same jobs under each order of a queue. */
@Command(
    name = "backfill",
    description = {
      "Plays jobs with the real engine in one queue, without a cluster, under BestEffortFIFO,"
          + " StrictFIFO and back-fill, and prints use, waits and late planned starts.",
      "The queue is as large as the load says, and at least as large as the largest job."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:the figures were printed",
      "1:the jobs can't be read or played; the message says why",
      "2:the command line is wrong"
    })
public final class BackfillCommand implements Callable<Integer> {

  /** Where the plots have points. */
  private static final double[] PERCENTS = IntStream.rangeClosed(0, 100).asDoubleStream().toArray();

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private TraceOptions traceOptions = new TraceOptions();

  @Option(
      names = "--load",
      paramLabel = "FACTOR",
      split = ",",
      defaultValue = "0.8,1.0,1.2",
      description =
          "What the jobs need of the queue on average, one or several (default:"
              + " ${DEFAULT-VALUE}).")
  private List<Double> loads = List.of();

  @Option(
      names = "--plots",
      paramLabel = "DIRECTORY",
      description = "Also draw the waits of the largest jobs into this directory.")
  private @Nullable Path plots;

  @Override
  public Integer call() {
    if (loads.stream().anyMatch(load -> !(load > 0 && load <= 100))) {
      throw new ParameterException(
          spec.commandLine(), "--load must be above 0 and at most 100: " + loads);
    }
    PrintWriter out = spec.commandLine().getOut();
    try {
      List<TraceJob> jobs = traceOptions.read();
      out.println(
          "| load | order | use | median wait | 95 % wait of the largest | longest wait"
              + " | late | moved | ms a job |");
      out.println("|---:|---|---:|---:|---:|---:|---|---|---:|");
      for (double load : loads) {
        Map<String, Long> quota = quota(jobs, load);
        BackfillTrial trial = new BackfillTrial(TraceOptions.squeezed(jobs, quota, load), quota);
        SvgChart chart =
            new SvgChart(
                "Waits of the largest jobs at a load of " + load,
                "so many % of them waited no longer",
                "seconds",
                true);
        for (Order order : Order.values()) {
          Outcome outcome = trial.play(order);
          print(out, load, order, outcome);
          chart.line(
              order.title(),
              PERCENTS,
              Arrays.stream(PERCENTS)
                  .map(percent -> Timings.quantile(outcome.largestWaits(), percent / 100))
                  .toArray());
        }
        if (plots != null) {
          Files.createDirectories(plots);
          Files.writeString(plots.resolve("backfill-waits-" + load + ".svg"), chart.svg());
        }
      }
      return 0;
    } catch (IOException | IllegalStateException e) {
      spec.commandLine().getErr().println("sluice: " + e.getMessage());
      return 1;
    }
  }

  /** As much of each resource as the jobs need on average at a load, and as the largest needs. */
  private static Map<String, Long> quota(List<TraceJob> jobs, double load) {
    double span =
        Duration.between(jobs.getFirst().submittedAt(), jobs.getLast().submittedAt()).toMillis();
    Map<String, Long> most = new TreeMap<>();
    for (TraceJob job : jobs) {
      job.amounts().forEach((resource, amount) -> most.merge(resource, amount, Math::max));
    }
    most.replaceAll(
        (resource, largest) ->
            Math.max(
                largest,
                span <= 0
                    ? largest
                    : (long) (TraceOptions.amountTimesMillis(jobs, resource) / span / load)));
    return most;
  }

  private static void print(PrintWriter out, double load, Order order, Outcome outcome) {
    out.printf(
        Locale.ROOT,
        "| %.1f | %s | %.1f %% | %,.0f s | %,.0f s | %,.0f s | %s | %s | %.2f |%n",
        load,
        order.title(),
        100 * outcome.use(),
        Timings.quantile(outcome.waits(), 0.5),
        Timings.quantile(outcome.largestWaits(), 0.95),
        Timings.quantile(outcome.waits(), 1),
        outcome.late().isEmpty() ? "0" : outcome.late(),
        outcome.moved().isEmpty() ? "0" : outcome.moved(),
        (double) outcome.millis() / outcome.waits().length);
    out.flush();
  }
}
