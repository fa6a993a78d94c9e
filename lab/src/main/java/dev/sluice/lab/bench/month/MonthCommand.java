package dev.sluice.lab.bench.month;

import dev.sluice.api.config.GoDuration;
import dev.sluice.core.model.QueueRules.CostRules.CheapestFirst;
import dev.sluice.lab.bench.BenchException;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
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
}
