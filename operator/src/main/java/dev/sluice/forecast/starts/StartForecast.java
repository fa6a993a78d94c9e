package dev.sluice.forecast.starts;

import dev.sluice.core.engine.EngineState;
import dev.sluice.core.engine.EngineState.ClusterQueueExport;
import dev.sluice.core.engine.EngineState.LocalQueueExport;
import dev.sluice.core.engine.InlineScheduler;
import dev.sluice.core.engine.WorkloadExport;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.PendingQueueExport.ClassExport;
import dev.sluice.core.waiting.WaitingExport.TreeRoot;
import dev.sluice.forecast.play.Play;
import dev.sluice.forecast.play.Play.PlayListener;
import dev.sluice.forecast.play.RequeuedWorkload;
import dev.sluice.forecast.runtimes.RunTimeEstimate;
import dev.sluice.forecast.starts.StartEstimate.Basis;
import dev.sluice.forecast.starts.StartEstimate.StartRange;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Plays a state of the engine forward, and tells when its pending Workloads start. */
public final class StartForecast {

  /**
   * Arrivals in plays are drawn from the last so many that were seen, of all that are asked for.
   */
  public static final int MOST_ARRIVALS = 1_000;

  /** The tree of Workloads whose ClusterQueue doesn't exist. */
  private static final TreeRoot NOWHERE = new TreeRoot("", false);

  /**
   * With more pending Workloads in the trees that are asked for no job arrives in plays: arrivals
   * would take longer than what is known, and those who are far behind wait for what is known.
   */
  static final int MOST_PENDING = 2_000;

  /** A time that no play reaches. */
  private static final long NOT_STARTED = Long.MAX_VALUE;

  /** What a forecast knows of Workloads beside the engine's state. */
  public interface Knowledge {

    /** How long a run of a Workload is expected to last. */
    RunTimeEstimate runTime(WorkloadId id);

    /**
     * When the current run of a Workload began.
     *
     * @param reservedAt when its quota was reserved
     */
    default Instant startedAt(WorkloadId id, Instant reservedAt) {
      return reservedAt;
    }

    /**
     * The Workloads that arrived lately at ClusterQueues, in the order of their arrival; others
     * like them arrive in the plays. None where nobody counts them. No further ones are asked for
     * when the time of the forecast is over, so each is made when it is asked for.
     *
     * @param clusterQueues the names
     */
    default Stream<Arrival> arrivals(Set<String> clusterQueues) {
      return Stream.of();
    }
  }

  /**
   * A Workload that arrived, or arrives in a play.
   *
   * @param workload the request; the time of its arrival is that at which it was queued
   * @param runTime how long it is expected to run
   */
  public record Arrival(PendingWorkload workload, RunTimeEstimate runTime) {}

  /**
   * How a forecast is computed.
   *
   * @param plays how many plays; quantiles are told apart from 10 on
   * @param horizon how far the plays reach; positive
   * @param stopping how long the pods of a preempted Workload take to stop
   * @param seed decides which play uses which quantile and which arrivals
   */
  public record Options(int plays, Duration horizon, Duration stopping, long seed) {

    /** 31 plays of 30 days. */
    public static final Options DEFAULT =
        new Options(31, Duration.ofDays(30), Duration.ofSeconds(30), 1);

    /**
     * @throws IllegalArgumentException if a value is out of its range
     */
    public Options {
      if (plays < 1 || horizon.isNegative() || horizon.isZero() || stopping.isNegative()) {
        throw new IllegalArgumentException(
            "plays=%s horizon=%s stopping=%s".formatted(plays, horizon, stopping));
      }
    }
  }

  /**
   * What of a forecast is wanted.
   *
   * @param workloads the Workloads whose estimates are wanted: a play ends when all of them have
   *     started
   * @param goesOn asked all the time: false ends the plays, and the estimates are what the whole
   *     plays so far say
   */
  public record Wanted(Predicate<WorkloadId> workloads, BooleanSupplier goesOn) {

    /** All Workloads, as long as it takes. */
    public static final Wanted ALL = new Wanted(_ -> true, () -> true);
  }

  /**
   * A Workload that has quota.
   *
   * @param again what is queued when it is preempted
   * @param age for how long it has run
   * @param evicted whether it is being evicted
   */
  private record Running(
      WorkloadId id, Optional<PendingWorkload> again, Duration age, boolean evicted) {}

  /** What the plays said of one Workload. */
  private static final class Starts {
    private final long[] millis;
    private Basis weakest = Basis.DECLARED;

    private Starts(int plays) {
      millis = new long[plays];
      Arrays.fill(millis, NOT_STARTED);
    }
  }

  private final EngineState state;
  private final Knowledge knowledge;
  private final Options options;
  private final Wanted wanted;
  private final List<Running> running = new ArrayList<>();
  private final List<PendingWorkload> waiting = new ArrayList<>();
  private final Map<WorkloadId, Starts> starts = new LinkedHashMap<>();
  private final Map<WorkloadId, TreeRoot> roots = new HashMap<>();
  private final Map<LocalQueueId, TreeRoot> rootOfLocal = new HashMap<>();

  /** By Workload; those that arrive in a play are as that play has them. */
  private final Map<WorkloadId, RunTimeEstimate> runTimes = new HashMap<>();

  private final ArrivalBootstrap arrivals;
  private long version;

  /** How many plays were played to their end. */
  private int plays;

  /** Roots of trees in which something that never ends holds quota at the end of a play. */
  private final Set<TreeRoot> endless = new HashSet<>();

  private boolean beyondHorizon;

  private StartForecast(EngineState state, Knowledge knowledge, Options options, Wanted wanted) {
    this.state = state;
    this.knowledge = knowledge;
    this.options = options;
    this.wanted = wanted;
    read();
    this.arrivals = new ArrivalBootstrap(arrived(), state.now());
  }

  /**
   * The estimates of Workloads that wait in a queue, in the order of the state.
   *
   * @param state the state to play forward
   */
  public static Map<WorkloadId, StartEstimate> of(
      EngineState state, Knowledge knowledge, Options options, Wanted wanted) {
    StartForecast forecast = new StartForecast(state, knowledge, options, wanted);
    while (!forecast.starts.isEmpty()
        && forecast.plays < options.plays()
        && forecast.play(forecast.plays)) {
      forecast.plays++;
    }
    Map<WorkloadId, StartEstimate> estimates = forecast.estimates();
    if (forecast.plays > 0 && forecast.arrivals.size() > 0) {
      forecast.undate(estimates);
    }
    return estimates;
  }

  /**
   * Says why Workloads have no date, by a play in which nobody arrives: with arrivals there is no
   * end at which everything that runs has ended.
   */
  private void undate(Map<WorkloadId, StartEstimate> estimates) {
    Set<WorkloadId> undated =
        estimates.entrySet().stream()
            .filter(each -> each.getValue().range().isEmpty())
            .map(Map.Entry::getKey)
            .collect(Collectors.toSet());
    if (undated.isEmpty()) {
      return;
    }
    Options once = new Options(1, options.horizon(), options.stopping(), options.seed());
    Wanted undatedOnes = new Wanted(undated::contains, wanted.goesOn());
    Map<WorkloadId, StartEstimate> alone = of(state, new NoArrivals(knowledge), once, undatedOnes);
    if (wanted.goesOn().getAsBoolean()) {
      alone.forEach(
          (id, estimate) ->
              estimates.put(id, estimate.range().isPresent() ? overtaken() : estimate));
    }
  }

  private StartEstimate overtaken() {
    return without(
        Basis.UNKNOWN,
        "it doesn't start within %s while jobs arrive as the last %d did"
            .formatted(options.horizon(), arrivals.size()));
  }

  /** The same, but that nobody is known to have arrived. */
  private record NoArrivals(Knowledge known) implements Knowledge {

    @Override
    public RunTimeEstimate runTime(WorkloadId id) {
      return known.runTime(id);
    }

    @Override
    public Instant startedAt(WorkloadId id, Instant reservedAt) {
      return known.startedAt(id, reservedAt);
    }
  }

  private void read() {
    Map<String, TreeRoot> rootOf = state.roots();
    for (ClusterQueueExport queue : state.clusterQueues()) {
      for (ClassExport each : queue.pending().classes()) {
        each.workloads().forEach(workload -> waits(workload, rootOf.get(queue.name())));
      }
    }
    for (LocalQueueExport queue : state.localQueues()) {
      queue
          .spec()
          .map(spec -> rootOf.get(spec.clusterQueue()))
          .ifPresent(root -> rootOfLocal.put(queue.id(), root));
    }
    for (WorkloadExport workload : state.workloads().workloads()) {
      version = Math.max(version, workload.version());
      workload.reservation().ifPresent(reservation -> runs(workload, reservation, rootOf));
      if (workload.reservation().isEmpty() && !starts.containsKey(workload.id())) {
        // it waits outside of a queue, as for the end of a backoff
        workload
            .retained()
            .ifPresent(retained -> waits(retained, rootOfLocal.get(retained.localQueue())));
      }
    }
    version++;
  }

  private void runs(
      WorkloadExport workload,
      WorkloadExport.ReservationExport reservation,
      Map<String, TreeRoot> rootOf) {
    WorkloadId id = workload.id();
    Instant began = knowledge.startedAt(id, reservation.holder().reservedAt());
    Duration age = Duration.between(began, state.now());
    running.add(
        new Running(
            id,
            RequeuedWorkload.of(workload, state),
            age.isNegative() ? Duration.ZERO : age,
            reservation.holder().evicted() || workload.residue().evictionDecided() >= 0));
    rooted(id, rootOf.get(reservation.clusterQueue()));
  }

  private void waits(PendingWorkload workload, @Nullable TreeRoot root) {
    version = Math.max(version, workload.version());
    waiting.add(workload);
    if (wanted.workloads().test(workload.id())) {
      starts.put(workload.id(), new Starts(options.plays()));
    }
    rooted(workload.id(), root);
  }

  /** The arrivals that were seen in the trees of what is wanted; none where too many wait. */
  private List<Arrival> arrived() {
    Set<TreeRoot> trees = starts.keySet().stream().map(this::root).collect(Collectors.toSet());
    long pending = waiting.stream().filter(workload -> trees.contains(root(workload.id()))).count();
    if (pending == 0 || pending > MOST_PENDING) {
      return List.of();
    }
    Set<String> clusterQueues =
        state.roots().entrySet().stream()
            .filter(each -> trees.contains(each.getValue()))
            .map(Map.Entry::getKey)
            .collect(Collectors.toSet());
    return knowledge
        .arrivals(clusterQueues)
        .takeWhile(_ -> wanted.goesOn().getAsBoolean())
        .filter(each -> rootOfLocal.containsKey(each.workload().localQueue()))
        .toList();
  }

  private void rooted(WorkloadId id, @Nullable TreeRoot root) {
    if (root != null) {
      roots.put(id, root);
    }
  }

  /** Plays once; false if that was ended before its end. */
  private boolean play(int number) {
    Map<TreeRoot, Basis> weakest = new HashMap<>();
    Set<WorkloadId> holding = new HashSet<>();
    List<Decision> decisions = new ArrayList<>();
    InlineScheduler scheduler = new InlineScheduler(state, decisions::add);
    int[] missing = {starts.size()};
    Play play =
        new Play(
            new Play.Source(scheduler, decisions),
            state.now(),
            version,
            (id, run) -> runTime(id).drawn(Duration.ZERO, quantile(id, run, number)),
            options.stopping(),
            new PlayListener() {
              @Override
              public void started(Decision.Admit admission, int run) {
                holding.add(admission.id());
                Starts known = starts.get(admission.id());
                if (run == 1 && known != null) {
                  known.millis[number] = admission.at().toEpochMilli();
                  Basis sofar = weakest.getOrDefault(root(admission.id()), Basis.DECLARED);
                  known.weakest = weaker(known.weakest, sofar);
                  missing[0]--;
                }
              }

              @Override
              public void ended(WorkloadId id, Instant at) {
                holding.remove(id);
                weakest.merge(root(id), basis(runTime(id)), StartForecast::weaker);
              }

              @Override
              public void preempted(WorkloadId id, String reason, Instant at) {
                holding.remove(id);
              }
            });
    for (Running each : running) {
      if (each.evicted()) {
        play.knownStopping(each.id(), each.again(), Optional.of(options.stopping()));
      } else {
        holding.add(each.id());
        play.knownRunning(
            each.id(),
            each.again(),
            runTime(each.id()).drawn(each.age(), quantile(each.id(), 0, number)));
      }
    }
    waiting.forEach(play::knownPending);
    Instant end = state.now().plus(options.horizon());
    for (Arrival each : arrivals.draw(new SplittableRandom(options.seed() + number), end)) {
      PendingWorkload workload = each.workload();
      runTimes.put(workload.id(), each.runTime());
      rooted(workload.id(), rootOfLocal.get(workload.localQueue()));
      play.arrives(workload.queuedAt(), workload);
    }
    play.run(end, () -> missing[0] == 0 || !wanted.goesOn().getAsBoolean());
    if (!wanted.goesOn().getAsBoolean()) {
      return false;
    }
    if (missing[0] > 0) {
      for (WorkloadId id : holding) {
        if (runTime(id).remaining(Duration.ZERO, 0.5).isEmpty()) {
          endless.add(root(id));
        } else {
          beyondHorizon = true;
        }
      }
    }
    return true;
  }

  private TreeRoot root(WorkloadId id) {
    return roots.getOrDefault(id, NOWHERE);
  }

  private RunTimeEstimate runTime(WorkloadId id) {
    return runTimes.computeIfAbsent(id, knowledge::runTime);
  }

  /** Of the plays each uses another quantile of a run, in an order that differs by Workload. */
  private double quantile(WorkloadId id, int run, int play) {
    SplittableRandom random =
        new SplittableRandom(options.seed() ^ (31L * id.hashCode() + run) * 0x9E3779B97F4A7C15L);
    int offset = random.nextInt(options.plays());
    int step = 1 + random.nextInt(options.plays());
    while (gcd(step, options.plays()) != 1) {
      step++;
    }
    int place = (int) ((offset + (long) step * play) % options.plays());
    return (place + 0.5) / options.plays();
  }

  private static int gcd(int one, int other) {
    return other == 0 ? one : gcd(other, one % other);
  }

  private static Basis basis(RunTimeEstimate runTime) {
    return switch (runTime.basis()) {
      case DECLARED -> Basis.DECLARED;
      case LEARNED -> Basis.LEARNED;
      case LIMIT -> Basis.LIMIT;
      case UNKNOWN -> Basis.UNKNOWN;
    };
  }

  private static Basis weaker(Basis one, Basis other) {
    return one.compareTo(other) >= 0 ? one : other;
  }

  private Map<WorkloadId, StartEstimate> estimates() {
    Map<WorkloadId, StartEstimate> estimates = new LinkedHashMap<>();
    starts.forEach((id, each) -> estimates.put(id, estimate(id, each)));
    return estimates;
  }

  private StartEstimate estimate(WorkloadId id, Starts of) {
    if (plays == 0) {
      return without(Basis.UNKNOWN, "it takes too long to compute");
    }
    long[] sorted = Arrays.copyOf(of.millis, plays);
    Arrays.sort(sorted);
    long expected = at(sorted, 0.5);
    if (expected == NOT_STARTED) {
      return endless.contains(root(id))
          ? without(Basis.UNKNOWN, "it waits for Workloads of which no run time is known")
          : beyondHorizon
              ? without(Basis.UNKNOWN, "it doesn't start within " + options.horizon())
              : without(Basis.NEVER, "it doesn't start when everything that runs has ended");
    }
    long latest = at(sorted, 0.9);
    return new StartEstimate(
        of.weakest,
        Optional.of(
            new StartRange(
                Instant.ofEpochMilli(at(sorted, 0.1)),
                Instant.ofEpochMilli(expected),
                latest == NOT_STARTED
                    ? Optional.empty()
                    : Optional.of(Instant.ofEpochMilli(latest)))),
        state.now(),
        List.of(
            arrivals.size() == 0
                ? "no job arrives before it starts"
                : "jobs arrive as the last " + arrivals.size() + " did"));
  }

  private StartEstimate without(Basis basis, String why) {
    return new StartEstimate(basis, Optional.empty(), state.now(), List.of(why));
  }

  /** The value that a share of the sorted ones doesn't exceed. */
  private static long at(long[] sorted, double share) {
    return sorted[(int) Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  }
}
