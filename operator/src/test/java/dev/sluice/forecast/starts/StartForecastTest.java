package dev.sluice.forecast.starts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.EngineState;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.play.OneQueue;
import dev.sluice.forecast.play.Play;
import dev.sluice.forecast.runtimes.FinishedRun;
import dev.sluice.forecast.runtimes.FinishedRun.End;
import dev.sluice.forecast.runtimes.RunTimeEstimate;
import dev.sluice.forecast.runtimes.RunTimeGroup;
import dev.sluice.forecast.runtimes.RunTimeGroup.Level;
import dev.sluice.forecast.runtimes.RunTimeHistory;
import dev.sluice.forecast.runtimes.RunTimeHistory.RunTimeOptions;
import dev.sluice.forecast.starts.StartEstimate.Basis;
import dev.sluice.forecast.starts.StartEstimate.StartRange;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class StartForecastTest {

  private static final Instant BEGIN = OneQueue.BEGIN;
  private static final Optional<Duration> NONE = Optional.empty();
  private static final PreemptionPolicies LOWER_PRIORITY =
      new PreemptionPolicies(
          WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.NEVER, false, OptionalInt.empty());

  private final Map<String, RunTimeEstimate> runTimes = new HashMap<>();
  private Play.Source source = OneQueue.source(PreemptionPolicies.NEVER);
  private Instant now = BEGIN;

  private void arrives(String name, int cpus, RunTimeEstimate runTime) {
    arrives(name, cpus, 0, runTime);
  }

  private void arrives(String name, int cpus, long priority, RunTimeEstimate runTime) {
    now = now.plusSeconds(60);
    runTimes.put(name, runTime);
    PendingWorkload workload = OneQueue.workload(name, cpus, priority, now);
    source.scheduler().apply(new SchedulerEvent.TimePassed(now));
    source.scheduler().apply(new SchedulerEvent.WorkloadPending(workload));
    source.scheduler().decide();
    source.decisions().stream()
        .filter(Decision.Admit.class::isInstance)
        .forEach(
            admitted ->
                source.scheduler().apply(new SchedulerEvent.AdmissionWritten(admitted.id(), 1)));
    source.decisions().clear();
  }

  private Map<String, StartEstimate> forecast() {
    return forecast(List.of());
  }

  private Map<String, StartEstimate> forecast(List<StartForecast.Arrival> seen) {
    return forecast(seen, StartForecast.Options.DEFAULT);
  }

  private Map<String, StartEstimate> forecast(
      List<StartForecast.Arrival> seen, StartForecast.Options options) {
    EngineState state = source.scheduler().export();
    Map<String, StartEstimate> estimates = new HashMap<>();
    StartForecast.of(state, knowledge(seen::stream), options, StartForecast.Wanted.ALL)
        .forEach((id, estimate) -> estimates.put(id.name(), estimate));
    assertThat(source.scheduler().export()).isEqualTo(state);
    return estimates;
  }

  private StartForecast.Knowledge knowledge(Supplier<Stream<StartForecast.Arrival>> seen) {
    return new StartForecast.Knowledge() {
      @Override
      public RunTimeEstimate runTime(WorkloadId id) {
        return StartForecastTest.this.runTime(id);
      }

      @Override
      public Stream<StartForecast.Arrival> arrivals(Set<String> clusterQueues) {
        assertThat(clusterQueues).containsExactly("cq");
        return seen.get();
      }
    };
  }

  private static StartEstimate of(Map<String, StartEstimate> estimates, String name) {
    return Objects.requireNonNull(estimates.get(name), name);
  }

  private RunTimeEstimate runTime(WorkloadId id) {
    return runTimes.getOrDefault(id.name(), unknown());
  }

  private static RunTimeEstimate declared(int minutes) {
    return RunTimeEstimate.of(Optional.of(Duration.ofMinutes(minutes)), Optional.empty(), NONE);
  }

  private static RunTimeEstimate learned(long... minutes) {
    RunTimeHistory history = new RunTimeHistory(RunTimeOptions.DEFAULT);
    List<RunTimeGroup> group = List.of(new RunTimeGroup(Level.NAME, "a"));
    for (long each : minutes) {
      history.add(group, new FinishedRun(BEGIN, Duration.ofMinutes(each), End.SUCCEEDED));
    }
    return RunTimeEstimate.of(NONE, history.learned(group, BEGIN), NONE);
  }

  private static RunTimeEstimate unknown() {
    return RunTimeEstimate.of(NONE, Optional.empty(), NONE);
  }

  private static Instant minute(int minute) {
    return BEGIN.plus(Duration.ofMinutes(minute));
  }

  @Test
  void declaredRunTimesSayTheMinute() {
    arrives("first", 4, declared(60));
    arrives("second", 3, declared(30));
    arrives("third", 3, declared(30));

    Map<String, StartEstimate> estimates = forecast();

    assertThat(estimates).containsOnlyKeys("second", "third");
    assertThat(of(estimates, "second").basis()).isEqualTo(Basis.DECLARED);
    assertThat(of(estimates, "second").range())
        .contains(new StartRange(minute(61), minute(61), Optional.of(minute(61))));
    assertThat(of(estimates, "third").range().orElseThrow().expected()).isEqualTo(minute(91));
    assertThat(of(estimates, "third").computedAt()).isEqualTo(now);
    assertThat(of(estimates, "third").assumptions())
        .containsExactly("no job arrives before it starts");
  }

  /**
   * After an hour "first" ends, "second" is preempted for "high" and has stopped 30 seconds later;
   * after another hour it runs anew, before "last" of lower priority.
   */
  @Test
  void preemptedWorkloadsRunAgainBeforeOthers() {
    source = OneQueue.source(LOWER_PRIORITY);
    arrives("first", 2, 5, declared(60));
    arrives("second", 2, 0, declared(600));
    arrives("high", 4, 3, declared(60));
    arrives("last", 4, -1, declared(60));

    Map<String, StartEstimate> estimates = forecast();

    Instant high = minute(61).plusSeconds(30);
    assertThat(of(estimates, "high").range().orElseThrow().expected()).isEqualTo(high);
    assertThat(of(estimates, "last").range().orElseThrow().expected())
        .isEqualTo(high.plus(Duration.ofMinutes(60 + 600)));
  }

  /** "low" is being evicted when the state is exported: its quota is free when it has stopped. */
  @Test
  void evictedWorkloadsStopAndRunAgain() {
    source = OneQueue.source(LOWER_PRIORITY);
    arrives("low", 4, 0, declared(600));
    arrives("high", 4, 3, declared(60));

    Map<String, StartEstimate> estimates = forecast();

    assertThat(of(estimates, "high").range().orElseThrow().expected())
        .isEqualTo(now.plusSeconds(30));
  }

  @Test
  void replicaThatOnlyListensExpectsTheSame() {
    arrives("first", 4, declared(60));
    arrives("second", 3, declared(30));
    Map<String, StartEstimate> leader = forecast();

    source.scheduler().apply(new SchedulerEvent.DecidingEnabled(false));

    assertThat(forecast()).isEqualTo(leader);
  }

  /** As many as are needed came every so many minutes, the last one now. */
  private List<StartForecast.Arrival> seen(int minutes, int cpus, RunTimeEstimate runTime) {
    List<StartForecast.Arrival> seen = new ArrayList<>();
    for (int i = ArrivalBootstrap.LEAST; i > 0; i--) {
      Instant at = now.minus(Duration.ofMinutes((long) minutes * (i - 1)));
      seen.add(new StartForecast.Arrival(OneQueue.workload("seen" + i, cpus, 0, at), runTime));
    }
    return seen;
  }

  /** A small job comes every ten minutes, and stays for 15: the large one has to wait for a gap. */
  @Test
  void jobsLikeThoseOfBeforeArriveAndOvertake() {
    arrives("first", 2, declared(60));
    arrives("large", 4, declared(30));
    List<StartForecast.Arrival> seen = seen(10, 1, declared(15));

    StartEstimate alone = of(forecast(), "large");
    StartEstimate among = of(forecast(seen), "large");

    assertThat(alone.range().orElseThrow().expected()).isEqualTo(minute(61));
    assertThat(among.assumptions()).containsExactly("jobs arrive as the last 50 did");
    assertThat(among.range().orElseThrow().expected()).isAfter(minute(61 + 10 * 60));
    assertThat(of(forecast(seen), "large")).isEqualTo(among);
  }

  @Test
  void largerThanTheQuotaItNeverStartsWhoeverArrives() {
    arrives("first", 4, declared(10));
    arrives("large", 5, declared(10));
    arrives("second", 4, declared(10));

    Map<String, StartEstimate> estimates = forecast(seen(24 * 60, 1, declared(15)));

    assertThat(of(estimates, "large").basis()).isEqualTo(Basis.NEVER);
    assertThat(of(estimates, "large").assumptions())
        .containsExactly("it doesn't start when everything that runs has ended");
    assertThat(of(estimates, "second").range()).isPresent();
  }

  /** Each day one comes that stays for three days. */
  @Test
  void overtakenForAllTheTimeItHasNoDate() {
    arrives("first", 1, declared(2 * 24 * 60));
    arrives("large", 4, declared(10));

    StartEstimate estimate = of(forecast(seen(24 * 60, 1, declared(3 * 24 * 60))), "large");

    assertThat(estimate.range()).isEmpty();
    assertThat(estimate.basis()).isEqualTo(Basis.UNKNOWN);
    assertThat(estimate.assumptions())
        .containsExactly("it doesn't start within PT720H while jobs arrive as the last 50 did");
  }

  /** Whoever is far behind waits for what is known, and arrivals would cost too much. */
  @Test
  void behindManyOthersNobodyArrives() {
    StartForecast.Options once =
        new StartForecast.Options(1, Duration.ofDays(30), Duration.ZERO, 1);
    arrives("first", 4, declared(1_000));
    for (int i = 0; i < StartForecast.MOST_PENDING; i++) {
      arrives("w" + i, 4, declared(1));
    }

    assertThat(of(forecast(seen(1, 4, declared(1)), once), "w0").assumptions())
        .containsExactly("jobs arrive as the last 50 did");
    arrives("one-more", 4, declared(1));
    assertThat(of(forecast(seen(1, 4, declared(1)), once), "w0").assumptions())
        .containsExactly("no job arrives before it starts");
  }

  /** Each is translated when it is asked for, which takes time where pod templates are large. */
  @Test
  void noMoreArrivalsAreAskedForWhenTheTimeIsOver() {
    arrives("first", 4, declared(60));
    arrives("second", 4, declared(60));
    AtomicInteger asked = new AtomicInteger();
    StartForecast.Knowledge knowledge =
        knowledge(() -> seen(10, 1, declared(15)).stream().peek(_ -> asked.incrementAndGet()));

    Map<WorkloadId, StartEstimate> estimates =
        StartForecast.of(
            source.scheduler().export(),
            knowledge,
            StartForecast.Options.DEFAULT,
            new StartForecast.Wanted(_ -> true, () -> asked.get() < 3));

    assertThat(asked).hasValue(3);
    assertThat(estimates.values())
        .singleElement()
        .extracting(StartEstimate::assumptions)
        .isEqualTo(List.of("it takes too long to compute"));
  }

  /** Those of a LocalQueue that isn't there any more don't come again. */
  @Test
  void arrivalsAtLocalQueuesThatAreGoneDoNotCount() {
    arrives("first", 4, declared(60));
    arrives("second", 4, declared(60));
    List<StartForecast.Arrival> seen =
        seen(1, 4, declared(1)).stream()
            .map(each -> new StartForecast.Arrival(inQueue("gone", each.workload()), declared(1)))
            .toList();

    assertThat(of(forecast(seen), "second").assumptions())
        .containsExactly("no job arrives before it starts");
  }

  private static PendingWorkload inQueue(String localQueue, PendingWorkload like) {
    return new PendingWorkload(
        like.id(),
        like.version(),
        localQueue,
        like.shape(),
        like.priority(),
        like.createdAt(),
        like.queuedAt(),
        like.notBefore(),
        like.held(),
        like.defect());
  }

  @Test
  void learnedRunTimesGiveTheirRange() {
    arrives("first", 4, learned(20, 30, 40, 50, 60, 70, 80, 90, 100));
    arrives("second", 4, declared(1));

    StartRange range = of(forecast(), "second").range().orElseThrow();

    assertThat(range.earliest()).isBetween(minute(21), minute(31));
    assertThat(range.expected()).isEqualTo(minute(61));
    assertThat(range.latest().orElseThrow()).isBetween(minute(91), minute(101));
    assertThat(of(forecast(), "second").basis()).isEqualTo(Basis.LEARNED);
    assertThat(of(forecast(), "second").range()).contains(range);
  }

  /** How long many uneven runs take one after another is the sum of their means. */
  @Test
  void queueOfUnevenRunsTakesAsLongAsTheirMeanSays() {
    for (int i = 0; i < 40; i++) {
      arrives("w" + i, 4, learned(10, 20, 30, 40, 200));
    }
    arrives("last", 4, declared(1));

    assertThat(of(forecast(), "last").range().orElseThrow().expected())
        .isBetween(minute(40 * 60 * 9 / 10), minute(40 * 60 * 11 / 10));
  }

  @Test
  void withoutRunTimesThereIsNoDate() {
    arrives("first", 4, unknown());
    arrives("second", 4, declared(1));

    StartEstimate estimate = of(forecast(), "second");

    assertThat(estimate.range()).isEmpty();
    assertThat(estimate.basis()).isEqualTo(Basis.UNKNOWN);
    assertThat(estimate.assumptions())
        .containsExactly("it waits for Workloads of which no run time is known");
  }

  @Test
  void largerThanTheQuotaItNeverStarts() {
    arrives("first", 4, declared(10));
    arrives("large", 5, declared(10));

    StartEstimate estimate = of(forecast(), "large");

    assertThat(estimate.range()).isEmpty();
    assertThat(estimate.basis()).isEqualTo(Basis.NEVER);
  }

  @Test
  void runThatOutlivedItsDeclarationIsExpectedToLastAsLongAgain() {
    arrives("first", 4, declared(10));
    now = minute(30);
    arrives("second", 4, declared(10));

    assertThat(of(forecast(), "second").range().orElseThrow().expected()).isEqualTo(minute(61));
  }

  @Test
  void weakestSourceIsTheBasis() {
    arrives("first", 2, declared(10));
    arrives(
        "other", 2, RunTimeEstimate.of(NONE, Optional.empty(), Optional.of(Duration.ofHours(1))));
    arrives("second", 2, declared(10));
    arrives("third", 4, declared(10));

    assertThat(of(forecast(), "second").basis()).isEqualTo(Basis.DECLARED);
    assertThat(of(forecast(), "third").basis()).isEqualTo(Basis.LIMIT);
    assertThat(of(forecast(), "third").range().orElseThrow().expected()).isEqualTo(minute(62));
  }

  /** What whole plays said so far is told; without one nothing is. */
  @Test
  void endedForecastTellsWhatWholePlaysSaid() {
    arrives("first", 4, learned(20, 30, 40, 50, 60, 70, 80, 90, 100));
    arrives("second", 4, declared(1));
    EngineState state = source.scheduler().export();
    StartForecast.Options options = StartForecast.Options.DEFAULT;
    int[] asked = {0};

    StartEstimate none =
        StartForecast.of(
                state, this::runTime, options, new StartForecast.Wanted(id -> true, () -> false))
            .values()
            .iterator()
            .next();
    StartEstimate some =
        StartForecast.of(
                state,
                this::runTime,
                options,
                new StartForecast.Wanted(id -> true, () -> asked[0]++ < 20))
            .values()
            .iterator()
            .next();

    assertThat(none.range()).isEmpty();
    assertThat(none.assumptions()).containsExactly("it takes too long to compute");
    assertThat(some.range()).isPresent();
  }
}
