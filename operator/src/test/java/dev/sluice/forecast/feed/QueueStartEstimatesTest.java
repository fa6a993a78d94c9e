package dev.sluice.forecast.feed;

import static dev.sluice.forecast.feed.RunWorkload.named;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.core.engine.EngineState;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.play.OneQueue;
import dev.sluice.forecast.play.Play;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class QueueStartEstimatesTest {

  private static final Duration LONG = Duration.ofSeconds(10);
  private static final Duration TAKEN = Duration.ofMillis(500);

  private final Play.Source source = OneQueue.source(PreemptionPolicies.NEVER);
  private final Map<String, CachedWorkload> workloads = new HashMap<>();
  private final List<Runnable> tasks = new ArrayList<>();
  private Instant now = OneQueue.BEGIN;
  private long cpu;
  private int exports;
  private int forecasts;
  private boolean late;

  private final StartEstimator estimator =
      new StartEstimator(
          () -> {
            exports++;
            return CompletableFuture.completedFuture(state());
          },
          id -> Optional.ofNullable(workloads.get(id.uid())),
          new RunTimeEstimator(_ -> Optional.empty(), _ -> Optional.empty(), () -> now)::of,
          _ -> "cq",
          () -> now,
          Runnable::run);

  private final QueueStartEstimates estimates =
      new QueueStartEstimates(estimator, () -> now, this::execute, this::cpu);

  private void execute(Runnable task) {
    if (late) {
      tasks.add(task);
    } else {
      task.run();
    }
  }

  /** Each forecast reads the clock at its begin and at its end. */
  private long cpu() {
    forecasts++;
    return cpu += TAKEN.toNanos();
  }

  private EngineState state() {
    source.scheduler().apply(new SchedulerEvent.TimePassed(now));
    return source.scheduler().export();
  }

  private WorkloadId arrives(String name) {
    CachedWorkload workload = named(name).annotated(RunTimeAnnotations.EXPECTED, "10m").build();
    workloads.put(workload.id().uid(), workload);
    source.scheduler().apply(new SchedulerEvent.TimePassed(now));
    source
        .scheduler()
        .apply(new SchedulerEvent.WorkloadPending(OneQueue.workload(name, 4, 0, now)));
    source.scheduler().decide();
    for (Decision decision : source.decisions()) {
      source.scheduler().apply(new SchedulerEvent.AdmissionWritten(decision.id(), 1));
    }
    source.decisions().clear();
    return workload.id();
  }

  private static Instant expected(@Nullable StartEstimate estimate) {
    return Objects.requireNonNull(estimate).range().orElseThrow().expected();
  }

  @Test
  void oneForecastTellsOfAllThatWait() {
    arrives("first");
    WorkloadId second = arrives("second");
    now = now.plusMillis(1);
    WorkloadId third = arrives("third");

    Map<WorkloadId, StartEstimate> found = estimates.of("cq", LONG);

    assertThat(found).containsOnlyKeys(second, third);
    assertThat(expected(found.get(second))).isEqualTo(OneQueue.BEGIN.plusSeconds(600));
    assertThat(expected(found.get(third))).isEqualTo(OneQueue.BEGIN.plusSeconds(1_200));
    assertThat(exports).isEqualTo(1);
    assertThat(forecasts / 2).isEqualTo(1);
  }

  @Test
  void nothingIsComputedBeforeSomebodyAsks() {
    arrives("first");
    arrives("second");

    assertThat(estimates.known("cq")).isEmpty();

    assertThat(exports).isZero();
    estimates.of("cq", LONG);
    assertThat(estimates.known("cq")).hasSize(1);
    assertThat(exports).isEqualTo(1);
  }

  @Test
  void estimatesAreAtMostFiveSecondsOldAndTakeTheirShareOfTheProcessorOnly() {
    arrives("first");
    WorkloadId second = arrives("second");
    Instant begin = now;
    estimates.of("cq", LONG);

    now = begin.plus(StartEstimator.FRESH).minusMillis(1);
    assertThat(estimates.of("cq", LONG)).hasSize(1);
    now = begin.plus(StartEstimator.FRESH);
    assertThat(estimates.known("cq")).isEmpty();
    assertThat(estimates.of("cq", LONG)).isEmpty();
    now = begin.plus(TAKEN.multipliedBy(QueueStartEstimates.PAUSE_PER_FORECAST)).minusMillis(1);
    assertThat(estimates.of("cq", LONG)).isEmpty();
    assertThat(exports).isEqualTo(1);

    now = now.plusMillis(1);
    assertThat(Objects.requireNonNull(estimates.of("cq", LONG).get(second)).computedAt())
        .isEqualTo(now);
    assertThat(exports).isEqualTo(2);
  }

  @Test
  void neitherEstimatesNorPausesLastLongerWhenTheClockIsSetBack() {
    arrives("first");
    WorkloadId second = arrives("second");
    estimates.of("cq", LONG);

    now = now.minusSeconds(3_600);

    assertThat(Objects.requireNonNull(estimates.of("cq", LONG).get(second)).computedAt())
        .isEqualTo(now);
    now = now.plus(StartEstimator.FRESH);
    assertThat(estimates.of("cq", LONG)).isEmpty();
    now = now.plus(TAKEN.multipliedBy(QueueStartEstimates.PAUSE_PER_FORECAST));
    assertThat(estimates.of("cq", LONG)).hasSize(1);
  }

  @Test
  void whatComesTooLateIsThereForWhoeverAsksNext() {
    arrives("first");
    arrives("second");
    late = true;

    assertThat(estimates.of("cq", Duration.ofMillis(1))).isEmpty();
    assertThat(estimates.of("cq", Duration.ofMillis(1))).isEmpty();

    assertThat(tasks).hasSize(1);
    tasks.getFirst().run();
    assertThat(estimates.known("cq")).hasSize(1);
  }

  @Test
  void soManyForecastsWaitAtMost() {
    late = true;
    for (int queue = 0; queue < 10; queue++) {
      estimates.of("queue-" + queue, Duration.ofMillis(1));
    }

    assertThat(tasks).hasSize(4);
  }

  @Test
  void aQueueThatDoesNotExistHasNone() {
    assertThat(estimates.of("none", LONG)).isEmpty();
    assertThat(forecasts).isZero();
  }
}
