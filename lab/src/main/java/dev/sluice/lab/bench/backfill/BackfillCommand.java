package dev.sluice.lab.bench.backfill;

import dev.sluice.core.engine.SchedulerThread.EngineListener;
import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.CycleStatistics;
import dev.sluice.core.model.PlannedStart.BackfillEvent;
import dev.sluice.core.model.PlannedStart.LateCause;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.trace.TraceJob;
import dev.sluice.forecast.whatif.PlayInput;
import dev.sluice.forecast.whatif.PlayInput.Happening;
import dev.sluice.forecast.whatif.TracePast;
import dev.sluice.forecast.whatif.WhatIf;
import dev.sluice.lab.bench.Timings;
import dev.sluice.lab.bench.backfill.BackfillCommand.BackfillTrial.Order;
import dev.sluice.lab.bench.backfill.BackfillCommand.BackfillTrial.Outcome;
import dev.sluice.lab.bench.month.SvgChart;
import dev.sluice.lab.bench.trace.TraceOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
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

  /**
   * The same jobs in one queue under each order, all with a limit that nobody exceeds: what is
   * used, how long jobs wait, and which planned starts were late (docs/backfill.md#measured).
   */
  static final class BackfillTrial {

    /** How a queue orders its Workloads. */
    enum Order {
      BEST_EFFORT_FIFO("BestEffortFIFO", QueueingStrategy.BEST_EFFORT_FIFO, 0),
      STRICT_FIFO("StrictFIFO", QueueingStrategy.STRICT_FIFO, 0),
      HEAD_ONLY("HeadOnly", QueueingStrategy.STRICT_FIFO, 1),
      DEPTH_10("Depth(10)", QueueingStrategy.STRICT_FIFO, 10);

      private final String title;
      private final QueueingStrategy strategy;
      private final int depth;

      Order(String title, QueueingStrategy strategy, int depth) {
        this.title = title;
        this.strategy = strategy;
        this.depth = depth;
      }

      String title() {
        return title;
      }

      private ClusterQueueSpec of(ClusterQueueSpec queue) {
        return queue.with(
            strategy,
            queue
                .rules()
                .withBackfill(
                    depth == 0
                        ? Optional.empty()
                        : Optional.of(new BackfillRules(depth, UnknownRunTime.REFUSE))));
      }
    }

    /**
     * What became of the jobs.
     *
     * @param use the used part of the resource that is needed most, until the last submission
     * @param waits how long jobs waited, in seconds, the shortest first
     * @param largestWaits the same of the largest jobs
     * @param late how many planned starts were late, by cause
     * @param moved how often a planned start moved, by cause
     * @param millis how long the play took
     */
    record Outcome(
        double use,
        double[] waits,
        double[] largestWaits,
        Map<LateCause, Integer> late,
        Map<LateCause, Integer> moved,
        long millis) {}

    private final List<TraceJob> jobs;
    private final Map<String, Long> quota;

    /**
     * A trial.
     *
     * @param jobs the jobs, by their time of submission; those without a limit get one from one to
     *     three times as long as they last
     * @param quota what the queue has of the resources of the jobs
     */
    BackfillTrial(List<TraceJob> jobs, Map<String, Long> quota) {
      this.jobs = List.copyOf(jobs);
      this.quota = Map.copyOf(quota);
    }

    Outcome play(Order order) {
      Map<LateCause, Integer> late = new EnumMap<>(LateCause.class);
      Map<LateCause, Integer> moved = new EnumMap<>(LateCause.class);
      EngineListener backfillListener =
          new EngineListener() {
            @Override
            public void cycled(CycleStatistics statistics) {
              for (BackfillEvent event : statistics.backfill()) {
                LateCause cause = event.cause().orElse(LateCause.OTHER);
                switch (event.kind()) {
                  case LATE -> late.merge(cause, 1, Integer::sum);
                  case MOVED -> moved.merge(cause, 1, Integer::sum);
                  default -> {}
                }
              }
            }
          };
      long began = System.nanoTime();
      PlayInput playInput = input(order);
      WhatIf.Played played = WhatIf.play(playInput, List.of(), backfillListener);
      return outcome(
          playInput, played.starts(), late, moved, (System.nanoTime() - began) / 1_000_000);
    }

    private PlayInput input(Order order) {
      List<SchedulerEvent> cluster = new ArrayList<>();
      for (SchedulerEvent event : TracePast.oneQueue(quota)) {
        cluster.add(
            event instanceof SchedulerEvent.ClusterQueueChanged(var queue)
                ? new SchedulerEvent.ClusterQueueChanged(order.of(queue))
                : event);
      }
      PlayInput past = TracePast.of(jobs, cluster, 1);
      Random random = new Random(7);
      List<Happening> happenings = new ArrayList<>();
      List<Happening.Arrival> arrivals =
          past.happenings().stream()
              .filter(Happening.Arrival.class::isInstance)
              .map(Happening.Arrival.class::cast)
              .toList();
      for (int i = 0; i < jobs.size(); i++) {
        Happening.Arrival arrival = arrivals.get(i);
        TraceJob job = jobs.get(i);
        double drawn = job.lasted().toSeconds() * (1 + 2 * random.nextDouble());
        Duration limit = job.limit().orElse(Duration.ofSeconds((long) Math.ceil(drawn)));
        happenings.add(
            new Happening.DeclarationEvent(
                arrival.at(),
                new SchedulerEvent.RunBounded(
                    arrival.workload().id(),
                    RunBound.of(limit.compareTo(job.lasted()) < 0 ? job.lasted() : limit))));
        happenings.add(arrival);
      }
      // The play ends when all have ended.
      return new PlayInput(
          past.state(),
          past.begin(),
          past.begin().plus(Duration.ofDays(36_500)),
          happenings,
          past.runTimes(),
          past.running(),
          past.stopping(),
          past.remarks());
    }

    private Outcome outcome(
        PlayInput playInput,
        Map<WorkloadId, List<Instant>> starts,
        Map<LateCause, Integer> late,
        Map<LateCause, Integer> moved,
        long millis) {
      Instant last = jobs.getLast().submittedAt();
      double span = Duration.between(playInput.begin(), last).toMillis();
      double most = jobs.stream().mapToDouble(this::share).max().orElse(0);
      List<Double> waits = new ArrayList<>();
      List<Double> largestWaits = new ArrayList<>();
      Map<String, Double> used = new HashMap<>();
      for (int i = 0; i < jobs.size(); i++) {
        TraceJob job = jobs.get(i);
        Happening.Arrival arrival = (Happening.Arrival) playInput.happenings().get(2 * i + 1);
        List<Instant> started = starts.getOrDefault(arrival.workload().id(), List.of());
        if (started.isEmpty()) {
          throw new IllegalStateException("job " + job.id() + " didn't start");
        }
        Instant start = started.getFirst();
        double wait = Duration.between(job.submittedAt(), start).toMillis() / 1_000.0;
        waits.add(wait);
        if (share(job) >= most / 2) {
          largestWaits.add(wait);
        }
        Instant end = start.plus(job.lasted());
        double counted =
            Math.max(0, Duration.between(start, end.isBefore(last) ? end : last).toMillis());
        job.amounts()
            .forEach((resource, amount) -> used.merge(resource, amount * counted, Double::sum));
      }
      double use =
          quota.entrySet().stream()
              .mapToDouble(each -> used.getOrDefault(each.getKey(), 0.0) / each.getValue() / span)
              .max()
              .orElse(0);
      return new Outcome(use, sorted(waits), sorted(largestWaits), late, moved, millis);
    }

    /** The largest part of a resource that a job needs. */
    private double share(TraceJob job) {
      return job.amounts().entrySet().stream()
          .mapToDouble(each -> (double) each.getValue() / quota.getOrDefault(each.getKey(), 1L))
          .max()
          .orElse(0);
    }

    private static double[] sorted(List<Double> values) {
      double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
      Arrays.sort(sorted);
      return sorted;
    }
  }
}
