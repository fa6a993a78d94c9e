package dev.sluice.forecast.feed;

import static dev.sluice.forecast.feed.RunWorkload.named;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.core.engine.EngineState;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Share;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Users;
import dev.sluice.forecast.play.OneQueue;
import dev.sluice.forecast.play.Play;
import dev.sluice.forecast.simulate.Feasibility;
import dev.sluice.forecast.simulate.SimulationResult;
import dev.sluice.forecast.starts.StartEstimate.Basis;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

class WorkloadSimulatorTest {

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final Play.Source source = OneQueue.source(PreemptionPolicies.NEVER);
  private final Map<String, CachedWorkload> workloads = new HashMap<>();
  private Instant now = OneQueue.BEGIN;
  private long used;

  /** How long the processor is busy between two looks at its clock. */
  private Duration computing = Duration.ZERO;

  private CompletableFuture<EngineState> state = new CompletableFuture<>();

  private WorkloadSimulator simulator(Executor executor) {
    RunTimeEstimator runTimes =
        new RunTimeEstimator(_ -> Optional.empty(), _ -> Optional.empty(), () -> now);
    StartEstimator.WorkloadSource known = id -> Optional.ofNullable(workloads.get(id.uid()));
    return new WorkloadSimulator(
        new StartEstimator(() -> state, known, runTimes::of, _ -> "cq", () -> now, executor),
        new RunBounds(runTimes::of, _ -> Optional.empty()),
        () -> now,
        executor,
        () -> used += computing.toNanos());
  }

  private static CachedWorkload declared(String name) {
    return named(name).annotated(RunTimeAnnotations.EXPECTED, "10m").build();
  }

  private Optional<SimulationResult> ask(WorkloadSimulator simulator, Duration patience) {
    return ask(simulator, "user", patience);
  }

  private Optional<SimulationResult> ask(
      WorkloadSimulator simulator, String user, Duration patience) {
    return simulator.of(
        declared("asked"),
        OneQueue.workload("asked", 4, 0, now),
        new WorkloadSimulator.Asker(user, patience));
  }

  @Test
  void startIsWhenTheOneBeforeEnds() {
    CachedWorkload holder = declared("holder");
    workloads.put(holder.id().uid(), holder);
    source
        .scheduler()
        .apply(new SchedulerEvent.WorkloadPending(OneQueue.workload("holder", 4, 0, now)));
    source.scheduler().decide();
    source.scheduler().apply(new SchedulerEvent.AdmissionWritten(holder.id(), 1));
    state.complete(source.scheduler().export());

    SimulationResult result = ask(simulator(Runnable::run), PATIENCE).orElseThrow();

    assertThat(result.feasibility()).isEqualTo(Feasibility.LATER);
    assertThat(result.start().orElseThrow().basis()).isEqualTo(Basis.DECLARED);
    assertThat(result.start().orElseThrow().range().orElseThrow().expected())
        .isEqualTo(now.plusSeconds(600));
  }

  @Test
  void limitOfAJobIsWhatItsRealRunWouldBeBoundBy() {
    source
        .scheduler()
        .apply(
            new SchedulerEvent.ReservationsChanged(
                List.of(
                    new ReservedCapacity(
                        "demo",
                        new Scope.OfQueue("cq", List.of(new Share("any", "cpu", 4_000))),
                        Users.NOBODY,
                        false,
                        List.of(new Occurrence(now.plusSeconds(1_800), now.plusSeconds(3_600)))))));
    state.complete(source.scheduler().export());
    CachedWorkload limited = named("asked").spec("maximumExecutionTimeSeconds", 600).build();

    assertThat(ask(simulator(Runnable::run), PATIENCE).orElseThrow().feasibility())
        .as("an expectation is no limit")
        .isEqualTo(Feasibility.LATER);
    assertThat(
            simulator(Runnable::run)
                .of(
                    limited,
                    OneQueue.workload("asked", 4, 0, now),
                    new WorkloadSimulator.Asker("user", PATIENCE))
                .orElseThrow()
                .feasibility())
        .isEqualTo(Feasibility.NOW);
  }

  @Test
  void whoComesFifthGetsNoAnswerUntilAnotherIsAnswered() {
    List<Runnable> waiting = new ArrayList<>();
    WorkloadSimulator simulator = simulator(waiting::add);
    state.complete(source.scheduler().export());
    for (int i = 0; i < 4; i++) {
      assertThat(ask(simulator, "user-" + i, Duration.ofMillis(1))).isEmpty();
    }
    assertThat(ask(simulator, "fifth", Duration.ofMillis(1))).isEmpty();
    assertThat(waiting).hasSize(4);

    waiting.removeFirst().run();
    assertThat(ask(simulator, "fifth", Duration.ofMillis(1))).isEmpty();
    assertThat(waiting).hasSize(4);
  }

  @Test
  void userWhoWaitsGetsNoSecondPlace() {
    List<Runnable> waiting = new ArrayList<>();
    WorkloadSimulator simulator = simulator(waiting::add);
    state.complete(source.scheduler().export());
    assertThat(ask(simulator, "greedy", Duration.ofMillis(1))).isEmpty();
    assertThat(ask(simulator, "greedy", Duration.ofMillis(1))).isEmpty();
    assertThat(waiting).hasSize(1);

    waiting.removeFirst().run();
    assertThat(ask(simulator, "greedy", Duration.ofMillis(1))).isEmpty();
    assertThat(waiting).hasSize(1);
  }

  /** A machine that is busy with something else makes no pause longer. */
  @Test
  void pauseIsThreeTimesTheProcessorTimeOfAnAnswer() {
    state.complete(source.scheduler().export());
    WorkloadSimulator simulator = simulator(Runnable::run);
    computing = Duration.ofMillis(700);
    assertThat(ask(simulator, PATIENCE)).isPresent();
    assertThat(ask(simulator, PATIENCE)).as("the pause is longer than anybody waits").isEmpty();

    computing = Duration.ZERO;
    now = now.plusMillis(2_100);
    assertThat(ask(simulator, PATIENCE)).isPresent();
    assertThat(ask(simulator, PATIENCE)).isPresent();
  }

  @Test
  void withoutAStateThereIsNoAnswer() {
    state = CompletableFuture.failedFuture(new IllegalStateException("stopped"));
    WorkloadSimulator simulator = simulator(Runnable::run);
    for (int i = 0; i < 9; i++) {
      assertThat(ask(simulator, PATIENCE)).isEmpty();
    }
    state = CompletableFuture.completedFuture(source.scheduler().export());
    assertThat(ask(simulator, PATIENCE)).as("nobody waits any more").isPresent();
  }
}
