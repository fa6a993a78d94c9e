package dev.sluice.lab.bench.estimates;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineState;
import dev.sluice.core.engine.InlineScheduler;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.play.Play;
import dev.sluice.forecast.play.Play.PlayListener;
import dev.sluice.forecast.runtimes.FinishedRun;
import dev.sluice.forecast.runtimes.RunTimeEstimate;
import dev.sluice.forecast.runtimes.RunTimeGroup;
import dev.sluice.forecast.runtimes.RunTimeGroup.Level;
import dev.sluice.forecast.runtimes.RunTimeHistory;
import dev.sluice.forecast.runtimes.RunTimeHistory.RunTimeOptions;
import dev.sluice.forecast.starts.StartCalibration;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.forecast.starts.StartEstimate.Basis;
import dev.sluice.forecast.starts.StartEstimate.StartRange;
import dev.sluice.forecast.starts.StartForecast;
import dev.sluice.forecast.starts.WaitHistory;
import dev.sluice.forecast.trace.TraceJob;
import dev.sluice.lab.bench.estimates.EstimatesCommand.EstimateTrial.Judged;
import dev.sluice.lab.bench.estimates.EstimatesCommand.EstimateTrial.Method;
import dev.sluice.lab.bench.trace.TraceOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
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

  /**
   * A trace played with the real engine in one queue: jobs of the first half are learned from, and
   * the starts of the second half's jobs that wait are estimated when they are submitted. Starts of
   * the second quarter's jobs are estimated too, which corrects later ranges as in operation.
   */
  static final class EstimateTrial {

    private static final String NAMESPACE = "trace";
    private static final String QUEUE = "trace";
    private static final String FLAVOR = "any";

    /** How the start of a job was estimated. */
    enum Method {
      /** As the product does it, from what it learned and the limits. */
      SLUICE,
      /** As the product does it where owners declare exactly how long their jobs last. */
      DECLARED,
      /** As the product does it where nothing is known but limits. */
      LIMITS_ALONE,
      /** As the product does it where nothing is known of run times. */
      QUEUE_HISTORY,
      /** Each job lasts as long as its limit. */
      LIMIT,
      /** Each job lasts as long as the last two of its user on average (Tsafrir et al. 2007). */
      LAST_TWO;

      /** Whether its ranges are corrected by what happened. */
      private boolean corrected() {
        return this == SLUICE || this == DECLARED || this == LIMITS_ALONE;
      }
    }

    /**
     * An estimate and what happened.
     *
     * @param range the range; empty if there was no date
     */
    record Judged(Basis basis, Instant asked, Optional<StartRange> range, Instant started) {}

    /** An estimate whose job hasn't started. */
    private record Asked(
        Basis basis, Instant at, Optional<StartRange> played, Optional<StartRange> told) {}

    private final List<TraceJob> jobs;
    private final long quota;
    private final int every;
    private final StartForecast.Options options;
    private final Instant asking;
    private final Instant judging;
    private final Map<WorkloadId, TraceJob> byId = new HashMap<>();
    private final RunTimeHistory history = new RunTimeHistory(RunTimeOptions.DEFAULT);
    private final Map<String, Deque<Duration>> lastTwo = new HashMap<>();
    private final Map<Method, StartCalibration> calibrations = new EnumMap<>(Method.class);
    private final WaitHistory waits = new WaitHistory(RunTimeOptions.DEFAULT);
    private final Set<WorkloadId> arrived = new LinkedHashSet<>();

    /** The latest arrivals, in their order. */
    private final Deque<PendingWorkload> seen = new ArrayDeque<>();

    private final Map<WorkloadId, Map<Method, Asked>> asked = new HashMap<>();

    /** The estimates of all methods, of the same jobs in the same order. */
    private final Map<Method, List<Judged>> judged = new EnumMap<>(Method.class);

    private long number;
    private long forecasts;
    private long nanos;
    private int mostWaiting;

    /**
     * A trial that has not begun.
     *
     * @param jobs the jobs, by their time of submission
     * @param quota what the queue has, in thousandths of a processor
     * @param every how many jobs wait for one that is judged
     */
    EstimateTrial(List<TraceJob> jobs, long quota, int every, StartForecast.Options options) {
      this.jobs = jobs;
      this.quota = quota;
      this.every = every;
      this.options = options;
      this.asking = jobs.get(jobs.size() / 4).submittedAt();
      this.judging = jobs.get(jobs.size() / 2).submittedAt();
    }

    /** Plays the trace. */
    void run() {
      List<Decision> decisions = new ArrayList<>();
      Instant begin = jobs.getFirst().submittedAt();
      InlineScheduler scheduler = scheduler(decisions, begin);
      Play play =
          new Play(
              new Play.Source(scheduler, decisions),
              begin,
              1,
              (id, run) -> Optional.of(job(id).lasted()),
              Duration.ZERO,
              new PlayListener() {
                @Override
                public void arrived(WorkloadId id, Instant at) {
                  arrived.add(id);
                  seen.addLast(workload(job(id)));
                  if (seen.size() > StartForecast.MOST_ARRIVALS) {
                    seen.removeFirst();
                  }
                }

                @Override
                public void started(Decision.Admit admission, int run) {
                  EstimateTrial.this.started(admission.id(), admission.at());
                }

                @Override
                public void ended(WorkloadId id, Instant at) {
                  learn(job(id), at);
                }
              });
      for (TraceJob job : jobs) {
        PendingWorkload workload = workload(job);
        byId.put(workload.id(), job);
        play.arrives(job.submittedAt(), workload);
      }
      play.run(
          Instant.MAX,
          () -> {
            if (!arrived.isEmpty()) {
              ask(scheduler, play.now());
            }
            return false;
          });
    }

    private void ask(InlineScheduler scheduler, Instant now) {
      if (now.isBefore(asking)) {
        arrived.clear();
        return;
      }
      List<WorkloadId> chosen = arrived.stream().filter(_ -> number++ % every == 0).toList();
      arrived.clear();
      if (chosen.isEmpty()) {
        return;
      }
      EngineState state = scheduler.export();
      StartForecast.Wanted wanted = new StartForecast.Wanted(chosen::contains, () -> true);
      long before = System.nanoTime();
      Map<WorkloadId, StartEstimate> sluice =
          StartForecast.of(state, new Expecting(this::runTime), options, wanted);
      nanos += System.nanoTime() - before;
      forecasts++;
      mostWaiting = Math.max(mostWaiting, sluice.size());
      StartForecast.Options once =
          new StartForecast.Options(1, options.horizon(), options.stopping(), options.seed());
      Map<Method, Map<WorkloadId, StartEstimate>> played = new EnumMap<>(Method.class);
      played.put(Method.SLUICE, sluice);
      played.put(
          Method.DECLARED, StartForecast.of(state, new Expecting(this::exactly), options, wanted));
      Map<WorkloadId, StartEstimate> byLimit = StartForecast.of(state, this::limit, once, wanted);
      played.put(Method.LIMITS_ALONE, byLimit);
      played.put(Method.LIMIT, byLimit);
      played.put(Method.LAST_TWO, StartForecast.of(state, this::meanOfLastTwo, once, wanted));
      for (WorkloadId id : chosen) {
        if (sluice.containsKey(id)) {
          Map<Method, Asked> of = new EnumMap<>(Method.class);
          played.forEach(
              (method, estimates) -> of.put(method, asked(method, estimates.get(id), now)));
          Optional<StartRange> range = waits.range(QUEUE, job(id).submittedAt(), now);
          of.put(Method.QUEUE_HISTORY, new Asked(Basis.QUEUE_HISTORY, now, range, range));
          asked.put(id, of);
        }
      }
    }

    /** Knows run times, and how jobs arrived lately. */
    private final class Expecting implements StartForecast.Knowledge {

      private final Function<WorkloadId, RunTimeEstimate> runTimes;

      Expecting(Function<WorkloadId, RunTimeEstimate> runTimes) {
        this.runTimes = runTimes;
      }

      @Override
      public RunTimeEstimate runTime(WorkloadId id) {
        return runTimes.apply(id);
      }

      @Override
      public Stream<StartForecast.Arrival> arrivals(Set<String> clusterQueues) {
        return seen.stream()
            .map(workload -> new StartForecast.Arrival(workload, runTime(workload.id())));
      }
    }

    private Asked asked(Method method, @Nullable StartEstimate estimate, Instant now) {
      if (estimate == null) {
        return new Asked(Basis.UNKNOWN, now, Optional.empty(), Optional.empty());
      }
      Optional<StartRange> told =
          method.corrected()
              ? estimate.range().map(range -> calibration(method).corrected(QUEUE, range, now))
              : estimate.range();
      return new Asked(estimate.basis(), now, estimate.range(), told);
    }

    private StartCalibration calibration(Method method) {
      return calibrations.computeIfAbsent(method, _ -> new StartCalibration());
    }

    private void started(WorkloadId id, Instant at) {
      arrived.remove(id);
      waits.started(QUEUE, Duration.between(job(id).submittedAt(), at), at);
      Map<Method, Asked> of = asked.remove(id);
      if (of == null) {
        return;
      }
      of.forEach(
          (method, each) -> {
            if (!each.at().isBefore(judging)) {
              judged
                  .computeIfAbsent(method, _ -> new ArrayList<>())
                  .add(new Judged(each.basis(), each.at(), each.told(), at));
            }
            if (method.corrected()) {
              each.played()
                  .ifPresent(range -> calibration(method).started(QUEUE, range, each.at(), at));
            }
          });
    }

    private void learn(TraceJob job, Instant at) {
      history.add(groups(job), new FinishedRun(at, job.lasted(), job.end()));
      Deque<Duration> last = lastTwo.computeIfAbsent(job.owner().user(), _ -> new ArrayDeque<>());
      last.addLast(job.lasted());
      if (last.size() > 2) {
        last.removeFirst();
      }
    }

    private static List<RunTimeGroup> groups(TraceJob job) {
      List<RunTimeGroup> groups = new ArrayList<>();
      String shape = job.amounts().toString();
      String program = job.owner().program();
      if (!program.isEmpty() && !program.equals("-1")) {
        groups.add(
            new RunTimeGroup(Level.TEMPLATE, job.owner().user() + "/" + program + "/" + shape));
        groups.add(new RunTimeGroup(Level.NAME, job.owner().user() + "/" + program));
      }
      groups.add(new RunTimeGroup(Level.USER, job.owner().user() + "/" + shape));
      groups.add(new RunTimeGroup(Level.LOCAL_QUEUE, job.owner().queue() + "/" + shape));
      groups.add(new RunTimeGroup(Level.CLUSTER_QUEUE, QUEUE));
      return groups;
    }

    private RunTimeEstimate runTime(WorkloadId id) {
      TraceJob job = job(id);
      return RunTimeEstimate.of(
          Optional.empty(), history.learned(groups(job), job.submittedAt()), job.limit());
    }

    private RunTimeEstimate exactly(WorkloadId id) {
      return RunTimeEstimate.of(Optional.of(job(id).lasted()), Optional.empty(), Optional.empty());
    }

    private RunTimeEstimate limit(WorkloadId id) {
      return RunTimeEstimate.of(Optional.empty(), Optional.empty(), job(id).limit());
    }

    private RunTimeEstimate meanOfLastTwo(WorkloadId id) {
      TraceJob job = job(id);
      Deque<Duration> last = lastTwo.getOrDefault(job.owner().user(), new ArrayDeque<>());
      Optional<Duration> mean =
          last.isEmpty()
              ? job.limit()
              : Optional.of(
                  last.stream().reduce(Duration.ZERO, Duration::plus).dividedBy(last.size()));
      return RunTimeEstimate.of(mean, Optional.empty(), job.limit());
    }

    private TraceJob job(WorkloadId id) {
      TraceJob job = byId.get(id);
      if (job == null) {
        throw new IllegalStateException(id + " isn't a job of the trace");
      }
      return job;
    }

    private static PendingWorkload workload(TraceJob job) {
      return new PendingWorkload(
          new WorkloadId(job.id(), NAMESPACE, job.id()),
          0,
          QUEUE,
          new RequestShape(
              List.of(
                  new PodSetRequest(
                      "main", 1, 0, new TreeMap<>(job.amounts()), NodeConstraints.ANYWHERE, ""))),
          0,
          job.submittedAt(),
          job.submittedAt(),
          Optional.empty(),
          false,
          Optional.empty());
    }

    private InlineScheduler scheduler(List<Decision> decisions, Instant begin) {
      InlineScheduler scheduler = new InlineScheduler(EngineOptions.DEFAULT, decisions::add);
      ResourceGroup.Quota all =
          new ResourceGroup.Quota(quota, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
      scheduler.apply(new SchedulerEvent.TimePassed(begin));
      scheduler.apply(new SchedulerEvent.NamespaceChanged(NAMESPACE, Map.of()));
      scheduler.apply(
          new SchedulerEvent.FlavorChanged(new Flavor(FLAVOR, Map.of(), List.of(), List.of())));
      scheduler.apply(
          new SchedulerEvent.ClusterQueueChanged(
              new ClusterQueueSpec(
                  QUEUE,
                  "",
                  List.of(
                      new ResourceGroup(
                          List.of("cpu"),
                          List.of(new ResourceGroup.FlavorQuotas(FLAVOR, Map.of("cpu", all))))),
                  QueueingStrategy.BEST_EFFORT_FIFO,
                  new LabelSelector.Requirements(List.of()),
                  StopPolicy.NONE,
                  false,
                  PreemptionPolicies.NEVER,
                  FlavorFungibility.DEFAULT,
                  BigDecimal.ONE,
                  List.of(),
                  List.of(),
                  false)));
      scheduler.apply(
          new SchedulerEvent.LocalQueueChanged(
              new LocalQueueSpec(new LocalQueueId(NAMESPACE, QUEUE), QUEUE, StopPolicy.NONE)));
      scheduler.apply(new SchedulerEvent.DecidingEnabled(true));
      return scheduler;
    }

    /** The estimates of a method, and what happened. */
    List<Judged> judged(Method method) {
      return judged.getOrDefault(method, List.of());
    }

    /** How long a forecast took on average, in milliseconds. */
    double millisPerForecast() {
      return forecasts == 0 ? 0 : nanos / 1e6 / forecasts;
    }

    /** The most Workloads of which a forecast told the start. */
    int mostWaiting() {
      return mostWaiting;
    }
  }
}
