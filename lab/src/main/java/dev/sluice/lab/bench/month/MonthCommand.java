package dev.sluice.lab.bench.month;

import dev.sluice.api.config.GoDuration;
import dev.sluice.core.model.QueueRules.CostRules.CheapestFirst;
import dev.sluice.lab.bench.BenchException;
import dev.sluice.lab.bench.month.MonthFigures.WaitTimes;
import dev.sluice.lab.bench.month.MonthSimulation.MonthCosts;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code sluice bench month}: a month of a large cluster in simulated time. */
@Command(
    name = "month",
    description = {
      "Plays a month of 1,000 ClusterQueues and a million jobs in simulated time, without a"
          + " cluster.",
      "The engine is the real one; the API server and the pods are played. The same seed leads to"
          + " the same decisions."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every job ended, and no quota was exceeded",
      "1:not so; the message says which",
      "2:the command line is wrong"
    })
public final class MonthCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--jobs",
      paramLabel = "NUMBER",
      defaultValue = "1000000",
      description =
          "How many jobs arrive; there are as many queues that each gets about as many a day"
              + " (default: ${DEFAULT-VALUE}).")
  private int jobs = MonthSize.WHOLE.jobs();

  @Option(
      names = "--days",
      paramLabel = "NUMBER",
      defaultValue = "30",
      description = "In how many days (default: ${DEFAULT-VALUE}).")
  private int days = MonthSize.WHOLE.days();

  @Option(
      names = "--queues-per-team",
      paramLabel = "NUMBER",
      defaultValue = "2",
      description =
          "How many ClusterQueues a team has; a tree has five teams, and there are as many trees"
              + " that the number of queues stays (default: ${DEFAULT-VALUE}).")
  private int queuesPerTeam = MonthSize.WHOLE.queues();

  @Option(
      names = "--seed",
      paramLabel = "NUMBER",
      defaultValue = "1",
      description = "What all randomness comes from (default: ${DEFAULT-VALUE}).")
  private long seed = MonthSize.WHOLE.seed();

  @Option(
      names = "--flavor-order",
      paramLabel = "ORDER",
      description =
          "Listed or Cheapest: count money, and let spot nodes be taken away; without it nothing"
              + " has a price.")
  private @Nullable FlavorOrder flavorOrder;

  @Option(
      names = "--max-delay-for-cheaper",
      paramLabel = "DURATION",
      converter = Delay.class,
      defaultValue = "0s",
      description = "With Cheapest: how long a job waits for a cheaper flavor (default: 0s).")
  private Duration maxDelay = Duration.ZERO;

  @Option(
      names = "--spot-everywhere",
      description =
          "All queues have 30 %% of their quota on spot nodes, and not every fifth alone.")
  private boolean spotEverywhere;

  @Option(
      names = "--load",
      paramLabel = "PART",
      defaultValue = "0.8",
      description = "What jobs need of the quota on average (default: ${DEFAULT-VALUE}).")
  private double load = MonthSize.WHOLE.load();

  @Option(
      names = "--plots",
      paramLabel = "DIRECTORY",
      description = "Also draw the plots into this directory.")
  private @Nullable Path plots;

  /** In which order queues try their flavors. */
  private enum FlavorOrder {
    LISTED,
    CHEAPEST
  }

  /** A duration as Go writes it. */
  static final class Delay implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
      try {
        return GoDuration.parse(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(String.valueOf(e.getMessage()));
      }
    }
  }

  private MonthCosts costs() {
    return new MonthCosts(
        flavorOrder != null,
        flavorOrder == FlavorOrder.CHEAPEST
            ? Optional.of(
                new CheapestFirst(maxDelay.isZero() ? Optional.empty() : Optional.of(maxDelay)))
            : Optional.empty(),
        spotEverywhere);
  }

  @Override
  public Integer call() {
    if (jobs < 1 || days < 1 || queuesPerTeam < 1) {
      throw new ParameterException(
          spec.commandLine(), "--jobs, --days and --queues-per-team must be 1 or more");
    }
    if (!(load >= 0.01 && load <= 10)) {
      throw new ParameterException(spec.commandLine(), "--load must be from 0.01 to 10");
    }
    MonthSize size =
        MonthSize.WHOLE.with(jobs, days, seed).withQueuesPerTeam(queuesPerTeam).withLoad(load);
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    MonthSimulation month =
        new MonthSimulation(
            size,
            costs(),
            midnight -> {
              err.printf(
                  Locale.ROOT,
                  "day %d: %,d jobs live, heap %.1f MiB%n",
                  midnight.day(),
                  midnight.live(),
                  midnight.mebibytes());
              err.flush();
            },
            id -> {});
    try {
      long wall = System.nanoTime();
      long cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
      MonthFigures figures = month.run();
      figures.cpuNanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - cpu;
      figures.wallNanos = System.nanoTime() - wall;
      out.print(MonthReport.text(size, figures));
      out.flush();
      if (plots != null) {
        MonthReport.draw(figures, plots);
      }
      return 0;
    } catch (BenchException | IllegalStateException e) {
      err.println("sluice: " + e.getMessage());
      return 1;
    } catch (IOException e) {
      err.println("sluice: can't draw into " + plots + ": " + e);
      return 1;
    }
  }

  /** The figures of a simulated month as text, and as plots. */
  private static final class MonthReport {

    private static final double DAY_MILLIS = 86_400_000.0;

    private MonthReport() {}

    /** The figures, in Markdown. */
    static String text(MonthSize size, MonthFigures figures) {
      StringBuilder text = new StringBuilder();
      line(text, "| a simulated month, seed %d | |", size.seed());
      line(text, "|---|---:|");
      line(
          text,
          "| ClusterQueues, teams, trees | %,d, %,d, %,d |",
          size.allQueues(),
          size.allTeams(),
          size.trees());
      line(text, "| days with arrivals | %d |", size.days());
      line(
          text,
          "| jobs: arrived, succeeded, failed for good | %,d, %,d, %,d |",
          figures.arrived,
          figures.succeeded,
          figures.failed);
      line(text, "| the last one ended on day | %.2f |", figures.lastEndMillis / DAY_MILLIS);
      line(text, "| admissions, each judged by the ledger | %,d |", figures.admissions);
      line(text, "| runs that failed and were queued again | %,d |", figures.runsFailed);
      line(text, "| evictions by preemption | %,d |", figures.evictions);
      if (figures.money > 0) {
        line(
            text,
            "| money, of it for spot nodes | %,.0f, %,.0f |",
            figures.money,
            figures.moneyForSpot);
        line(text, "| runs whose spot nodes were taken away | %,d |", figures.interruptions);
      }
      line(
          text,
          "| writes refused: admissions, evictions | %,d, %,d |",
          figures.refused,
          figures.evictionsRefused);
      line(text, "| declarations changed while jobs ran | %,d |", figures.changes);
      line(
          text,
          "| events into the engine, cycles, explanations | %,d, %,d, %,d |",
          figures.events,
          figures.cycles,
          figures.explanations);
      line(
          text,
          "| quota in use on average while jobs arrive | %.1f %% |",
          100 * mean(arriving(size, figures), MonthFigures.Hour::use));
      line(
          text,
          "| fairness (Jain) on average, least of a day | %.3f, %.3f |",
          mean(arriving(size, figures), MonthFigures.Hour::fairness),
          leastDay(size, figures));
      line(
          text,
          "| pending: most at a full hour | %,d |",
          figures.hours.stream().mapToLong(MonthFigures.Hour::pending).max().orElse(0));
      line(
          text,
          "| processor time of the thread, wall time | %.0f s, %.0f s |",
          figures.cpuNanos / 1e9,
          figures.wallNanos / 1e9);
      line(
          text,
          "| jobs, events per second of processor time | %,.0f, %,.0f |",
          figures.ended() * 1e9 / Math.max(1, figures.cpuNanos),
          figures.events * 1e9 / Math.max(1, figures.cpuNanos));
      line(
          text,
          "| heap after collection: first, most, last midnight, MiB | %.1f, %.1f, %.1f |",
          figures.midnights.getFirst().mebibytes(),
          figures.midnights.stream().mapToDouble(MonthFigures.Midnight::mebibytes).max().orElse(0),
          figures.midnights.getLast().mebibytes());
      line(text, "| all decisions and their times, in a number | %016x |", figures.digest());
      line(text, "");
      line(
          text,
          "| waited until the first admission | jobs | median, s | 95 %%, s | 99 %%, s | most, h"
              + " |");
      line(text, "|---|---:|---:|---:|---:|---:|");
      waits(text, "all", figures.waits);
      for (Map.Entry<JobTrace.SizeClass, WaitTimes> each : figures.waitsBySize.entrySet()) {
        waits(text, each.getKey().name().toLowerCase(Locale.ROOT), each.getValue());
      }
      List<WaitTimes> teams =
          figures.waitsByTeam.stream()
              .sorted(Comparator.comparingDouble(team -> team.seconds(0.95)))
              .toList();
      waits(text, "the team that waits least", teams.getFirst());
      waits(text, "the team in the middle", teams.get(teams.size() / 2));
      waits(text, "the team that waits most", teams.getLast());
      return text.toString();
    }

    private static void line(StringBuilder text, String format, Object... values) {
      text.append(String.format(Locale.ROOT, format, values)).append('\n');
    }

    private static void waits(StringBuilder text, String who, WaitTimes waits) {
      line(
          text,
          "| %s | %,d | %,.0f | %,.0f | %,.0f | %.1f |",
          who,
          waits.count(),
          waits.seconds(0.5),
          waits.seconds(0.95),
          waits.seconds(0.99),
          waits.mostSeconds() / 3_600);
    }

    private static List<MonthFigures.Hour> arriving(MonthSize size, MonthFigures figures) {
      return figures.hours.stream().filter(hour -> hour.hour() <= size.hours()).toList();
    }

    private static double mean(
        List<MonthFigures.Hour> hours, ToDoubleFunction<MonthFigures.Hour> figure) {
      return hours.stream().mapToDouble(figure).average().orElse(0);
    }

    private static double leastDay(MonthSize size, MonthFigures figures) {
      double least = 1;
      for (int day = 0; day < size.days(); day++) {
        int from = 24 * day;
        least =
            Math.min(
                least,
                mean(
                    figures.hours.stream()
                        .filter(hour -> hour.hour() > from && hour.hour() <= from + 24)
                        .toList(),
                    MonthFigures.Hour::fairness));
      }
      return least;
    }

    /**
     * Draws the plots.
     *
     * @param into a directory, which is made if it isn't there
     * @throws IOException when a file can't be written
     */
    static void draw(MonthFigures figures, Path into) throws IOException {
      Files.createDirectories(into);
      double[] days = hours(figures, hour -> hour.hour() / 24.0);
      write(
          into,
          "month-throughput.svg",
          new SvgChart("Jobs per hour", "day", "jobs", false)
              .line("arrived", days, hours(figures, MonthFigures.Hour::arrived))
              .line("ended", days, hours(figures, MonthFigures.Hour::ended)));
      write(
          into,
          "month-pending.svg",
          new SvgChart("Jobs that wait", "day", "jobs", false)
              .line("pending", days, hours(figures, MonthFigures.Hour::pending)));
      write(
          into,
          "month-use.svg",
          new SvgChart("Quota in use, and fairness", "day", "part of all quota; index", false)
              .line("quota in use", days, hours(figures, MonthFigures.Hour::use))
              .line("fairness", days, hours(figures, MonthFigures.Hour::fairness)));
      write(into, "month-waits.svg", waits(figures));
      write(
          into,
          "month-heap.svg",
          new SvgChart("Heap after collection, at midnight", "day", "MiB", false)
              .line(
                  "heap",
                  figures.midnights.stream().mapToDouble(MonthFigures.Midnight::day).toArray(),
                  figures.midnights.stream()
                      .mapToDouble(MonthFigures.Midnight::mebibytes)
                      .toArray()));
    }

    private static SvgChart waits(MonthFigures figures) {
      List<WaitTimes> teams =
          figures.waitsByTeam.stream()
              .sorted(Comparator.comparingDouble(team -> team.seconds(0.5)))
              .toList();
      double[] ranks = new double[teams.size()];
      for (int i = 0; i < ranks.length; i++) {
        ranks[i] = i + 1.0;
      }
      SvgChart chart = new SvgChart("Waits by team", "teams, by their median", "seconds", true);
      for (double quantile : new double[] {0.5, 0.95, 0.99}) {
        chart.line(
            Math.round(100 * quantile) + " % of its jobs",
            ranks,
            teams.stream().mapToDouble(team -> team.seconds(quantile)).toArray());
      }
      return chart;
    }

    private static double[] hours(
        MonthFigures figures, ToDoubleFunction<MonthFigures.Hour> figure) {
      return figures.hours.stream().mapToDouble(figure).toArray();
    }

    private static void write(Path into, String name, SvgChart chart) throws IOException {
      Files.writeString(into.resolve(name), chart.svg());
    }
  }
}
