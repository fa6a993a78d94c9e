package dev.sluice.lab.bench.estimates;

import dev.sluice.forecast.starts.StartEstimate.Basis;
import dev.sluice.forecast.starts.StartEstimate.StartRange;
import dev.sluice.forecast.starts.StartForecast;
import dev.sluice.forecast.trace.TraceJob;
import dev.sluice.lab.bench.estimates.EstimateTrial.Judged;
import dev.sluice.lab.bench.estimates.EstimateTrial.Method;
import dev.sluice.lab.bench.trace.TraceOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sluice bench estimates}: judges expected starts on a trace. */
@Command(
    name = "estimates",
    description = {
      "Plays a trace with the real engine in one queue, without a cluster, and judges the expected"
          + " starts of the second half's jobs that wait.",
      "What the first half's jobs lasted is learned. In the same run are judged: what would be told"
          + " if owners declared exactly what runs last, if nothing but limits were known, and if"
          + " nothing were; and two other ways to estimate, the user's limit and the mean of the"
          + " user's last two jobs."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:the figures were printed",
      "1:the trace can't be read or played; the message says why",
      "2:the command line is wrong"
    })
public final class EstimatesCommand implements Callable<Integer> {

  private static final Duration LEAST = Duration.ofMinutes(1);

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private TraceOptions traceOptions = new TraceOptions();

  @Option(
      names = "--load",
      paramLabel = "FACTOR",
      defaultValue = "1.0",
      description =
          "What the jobs need, as a share of what the queue has: times between submissions are"
              + " squeezed or stretched to it (default: ${DEFAULT-VALUE}).")
  private double load = 1;

  @Option(
      names = "--every",
      paramLabel = "NUMBER",
      defaultValue = "1",
      description = "Judge one of so many jobs (default: ${DEFAULT-VALUE}).")
  private int every = 1;

  @Override
  public Integer call() {
    if (every < 1 || !(load > 0 && load <= 100)) {
      throw new ParameterException(
          spec.commandLine(), "--every must be 1 or more, --load above 0 and at most 100");
    }
    PrintWriter out = spec.commandLine().getOut();
    try {
      List<TraceJob> jobs =
          traceOptions.read().stream().filter(job -> job.amounts().containsKey("cpu")).toList();
      if (jobs.size() < 2) {
        spec.commandLine().getErr().println("sluice: no jobs have cpu");
        return 1;
      }
      long quota = jobs.stream().mapToLong(EstimatesCommand::cpu).max().orElse(1);
      EstimateTrial trial =
          new EstimateTrial(
              TraceOptions.squeezed(jobs, Map.of("cpu", quota), load),
              quota,
              every,
              StartForecast.Options.DEFAULT);
      trial.run();
      out.println(
          "way            basis          jobs  dated  inside  width/wait   near  error p50"
              + "       mean  Sluice's p50 and mean of the same");
      for (Method method : Method.values()) {
        print(out, method, trial);
      }
      out.printf(
          Locale.ROOT,
          "%.1f ms for a forecast on average, of at most %,d Workloads%n",
          trial.millisPerForecast(),
          trial.mostWaiting());
      out.flush();
      return 0;
    } catch (IOException e) {
      spec.commandLine().getErr().println("sluice: " + e.getMessage());
      return 1;
    }
  }

  private static long cpu(TraceJob job) {
    return job.amounts().getOrDefault("cpu", 0L);
  }

  /** A line for each basis of the method's estimates. */
  private static void print(PrintWriter out, Method method, EstimateTrial trial) {
    List<Judged> own = trial.judged(Method.SLUICE);
    List<Judged> judged = trial.judged(method);
    Map<Basis, List<Integer>> byBasis =
        IntStream.range(0, judged.size())
            .boxed()
            .collect(
                Collectors.groupingBy(
                    i -> judged.get(i).basis(), TreeMap::new, Collectors.toList()));
    byBasis.forEach(
        (basis, all) -> {
          List<Integer> places = all.stream().filter(i -> dated(judged.get(i))).toList();
          if (places.isEmpty()) {
            out.printf(
                Locale.ROOT, "%-14s %-12s %,6d %,6d%n", method, basis.apiName(), all.size(), 0);
            return;
          }
          List<Judged> dated = places.stream().map(judged::get).toList();
          List<Judged> same =
              places.stream().map(own::get).filter(EstimatesCommand::dated).toList();
          out.printf(
              Locale.ROOT,
              "%-14s %-12s %,6d %,6d  %5.1f%%  %10.2f %5.1f%%  %,8.0fs %,9.0fs %,10.0fs %,9.0fs%n",
              method,
              basis.apiName(),
              all.size(),
              dated.size(),
              share(dated, each -> range(each).contains(each.started())),
              median(
                  dated.stream()
                      .filter(EstimatesCommand::waited)
                      .mapToDouble(EstimatesCommand::width)
                      .toArray()),
              share(dated, EstimatesCommand::near),
              medianError(dated),
              meanError(dated),
              medianError(same),
              meanError(same));
        });
  }

  private static double medianError(List<Judged> dated) {
    return median(dated.stream().mapToDouble(EstimatesCommand::error).toArray()) / 1_000;
  }

  private static double meanError(List<Judged> dated) {
    return dated.stream().mapToDouble(EstimatesCommand::error).average().orElse(Double.NaN) / 1_000;
  }

  private static boolean dated(Judged judged) {
    return judged.range().isPresent();
  }

  private static StartRange range(Judged judged) {
    return judged.range().orElseThrow();
  }

  private static double wait(Judged judged) {
    return Duration.between(judged.asked(), judged.started()).toMillis();
  }

  private static boolean waited(Judged judged) {
    return wait(judged) > 0;
  }

  private static double error(Judged judged) {
    return Math.abs(Duration.between(range(judged).expected(), judged.started()).toMillis());
  }

  /** Whether the expected start is off by a minute, or by a tenth of the wait, at most. */
  private static boolean near(Judged judged) {
    return error(judged) <= Math.max(LEAST.toMillis(), wait(judged) / 10);
  }

  private static double width(Judged judged) {
    StartRange range = range(judged);
    return range
        .latest()
        .map(latest -> Duration.between(range.earliest(), latest).toMillis() / wait(judged))
        .orElse(Double.POSITIVE_INFINITY);
  }

  private static double share(List<Judged> judged, Predicate<Judged> condition) {
    return judged.isEmpty()
        ? Double.NaN
        : 100.0 * judged.stream().filter(condition).count() / judged.size();
  }

  private static double median(double[] values) {
    return values.length == 0
        ? Double.NaN
        : Arrays.stream(values).sorted().toArray()[values.length / 2];
  }
}
