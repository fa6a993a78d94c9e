package dev.sluice.forecast.feed;

import static dev.sluice.forecast.feed.RunWorkload.named;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.core.engine.EngineState;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.forecast.feed.StartEstimator.RecentArrivals;
import dev.sluice.forecast.play.OneQueue;
import dev.sluice.forecast.play.Play;
import dev.sluice.forecast.starts.StartEstimate;
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
import org.junit.jupiter.api.Test;

class StartEstimatorTest {

  private final Play.Source source = OneQueue.source(PreemptionPolicies.NEVER);
  private final Map<String, CachedWorkload> workloads = new HashMap<>();
  private Instant now = OneQueue.BEGIN;
  private int asked;
  private Duration exportTook = Duration.ZERO;

  private final StartEstimator estimator =
      new StartEstimator(
          new SharedEngineState(
              () -> {
                asked++;
                return CompletableFuture.completedFuture(state());
              },
              () -> exportTook,
              () -> now),
          id -> Optional.ofNullable(workloads.get(id.uid())),
          new RunTimeEstimator(_ -> Optional.empty(), _ -> Optional.empty(), () -> now)::of,
          workload -> workload.spec().queueName().equals("nowhere") ? "" : "cq",
          () -> now,
          Runnable::run);

  private EngineState state() {
    source.scheduler().apply(new SchedulerEvent.TimePassed(now));
    return source.scheduler().export();
  }

  private CachedWorkload arrives(String name, String declared) {
    RunWorkload object = named(name);
    if (!declared.isEmpty()) {
      object.annotated(RunTimeAnnotations.EXPECTED, declared);
    }
    CachedWorkload workload = object.build();
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
    return workload;
  }

  @Test
  void startIsWhenTheOneBeforeEnds() {
    arrives("first", "10m");
    CachedWorkload second = arrives("second", "10m");

    StartEstimate estimate = estimator.of(second).orElseThrow();

    assertThat(estimate.basis()).isEqualTo(Basis.DECLARED);
    assertThat(estimate.range().orElseThrow().expected()).isEqualTo(now.plusSeconds(600));
    assertThat(estimate.computedAt()).isEqualTo(now);
  }

  @Test
  void answerIsGivenAgainForFiveSeconds() {
    arrives("first", "10m");
    CachedWorkload second = arrives("second", "10m");
    StartEstimate first = estimator.of(second).orElseThrow();

    now = now.plus(StartEstimator.FRESH).minusMillis(1);
    assertThat(estimator.of(second)).contains(first);
    assertThat(asked).isEqualTo(1);

    now = now.plusMillis(1);
    assertThat(estimator.of(second).orElseThrow().computedAt()).isEqualTo(now);
    assertThat(asked).isEqualTo(2);
  }

  @Test
  void answerIsNotGivenForLongerWhenTheClockIsSetBack() {
    arrives("first", "10m");
    CachedWorkload second = arrives("second", "10m");
    assertThat(estimator.of(second)).isPresent();

    now = now.minusSeconds(3_600);

    assertThat(estimator.of(second).orElseThrow().computedAt()).isEqualTo(now);
    assertThat(asked).isEqualTo(2);
  }

  /** The engine's thread pays for each export. */
  @Test
  void exportThatTookLongIsSharedForLonger() {
    exportTook = Duration.ofMillis(400);
    arrives("first", "10m");
    CachedWorkload second = arrives("second", "10m");
    Instant computed = estimator.of(second).orElseThrow().computedAt();

    now = now.plusSeconds(8).minusMillis(1);
    assertThat(estimator.of(second).orElseThrow().computedAt()).isEqualTo(computed);
    assertThat(asked).isEqualTo(1);

    now = now.plusMillis(1);
    assertThat(estimator.of(second).orElseThrow().computedAt()).isEqualTo(now);
    assertThat(asked).isEqualTo(2);
  }

  @Test
  void withoutRunTimesWaitsOfOthersSay() {
    arrives("first", "");
    CachedWorkload second = arrives("second", "");
    assertThat(estimator.of(second).orElseThrow().basis()).isEqualTo(Basis.UNKNOWN);

    for (int i = 0; i < 5; i++) {
      RunWorkload other = named("other-" + i);
      now = other.build().createdAt().plusSeconds(1_800);
      estimator.changed(other.build(), other.admitted(5).build());
    }
    now = second.createdAt().plusSeconds(60);
    StartEstimate estimate = estimator.of(second).orElseThrow();

    assertThat(estimate.basis()).isEqualTo(Basis.QUEUE_HISTORY);
    assertThat(Duration.between(second.createdAt(), estimate.range().orElseThrow().expected()))
        .isEqualTo(Duration.ofMinutes(30));
  }

  /** What ran for ten days before it was evicted didn't wait for that long. */
  @Test
  void waitOfWhatWasEvictedBeginsWhenItIsQueuedAgain() {
    arrives("first", "");
    CachedWorkload second = arrives("second", "");
    int tenDays = 14_400;
    for (int i = 0; i < 5; i++) {
      now = RunWorkload.at(tenDays + 5);
      estimator.changed(
          requeued("other-" + i, tenDays), named("other-" + i).admitted(tenDays + 5).build());
    }
    now = second.createdAt().plusSeconds(60);
    assertThat(estimator.of(second).orElseThrow().range().orElseThrow().expected())
        .isEqualTo(RunWorkload.at(5));

    now = RunWorkload.at(tenDays + 1);
    CachedWorkload again = requeued("second", tenDays);
    workloads.put(again.id().uid(), again);
    assertThat(estimator.of(again).orElseThrow().range().orElseThrow().expected())
        .isEqualTo(RunWorkload.at(tenDays + 5));
  }

  private static CachedWorkload requeued(String name, int minute) {
    return named(name)
        .condition("QuotaReserved", "False", "Pending", minute)
        .condition("Requeued", "True", "Preempted", minute)
        .build();
  }

  @Test
  void listenerIsNotToldOfANextStartAfterAnAnswerThatCameTooLate() {
    arrives("first", "10m");
    CachedWorkload second = arrives("second", "10m");
    List<StartEstimate> told = new ArrayList<>();
    estimator.onStart((estimate, at) -> told.add(estimate));
    CachedWorkload started = named("second").admitted(1).build();
    workloads.put(started.id().uid(), started);
    estimator.of(second);

    estimator.changed(second, started);

    assertThat(told).isEmpty();
  }

  @Test
  void listenerIsToldOfAStartWithWhatWasSaidFirst() {
    arrives("first", "10m");
    CachedWorkload second = arrives("second", "10m");
    List<StartEstimate> told = new ArrayList<>();
    estimator.onStart((estimate, at) -> told.add(estimate));
    StartEstimate first = estimator.of(second).orElseThrow();
    now = now.plusSeconds(60);
    estimator.of(second);

    estimator.changed(named("stranger").build(), named("stranger").admitted(5).build());
    assertThat(told).isEmpty();
    estimator.changed(second, named("second").admitted(5).build());

    assertThat(told).containsExactly(first);
  }

  /** What was listed when the process began says nothing of how often jobs arrive. */
  @Test
  void jobsArriveAsThoseThatWereSeen() {
    estimator.expectArrivals(
        workload ->
            new SchedulerEvent.WorkloadPending(
                OneQueue.workload(workload.id().name(), 1, 0, workload.createdAt())));
    arrives("first", "10m");
    CachedWorkload second = arrives("second", "10m");
    for (int i = 0; i < 50; i++) {
      estimator.changed(null, arrived("listed-" + i));
    }
    estimator.synced();
    for (int i = 0; i < 50; i++) {
      CachedWorkload each = arrived("new-" + i);
      estimator.changed(null, each);
      estimator.changed(each, each);
    }
    estimator.changed(null, named("new-0").variant().build());
    estimator.changed(null, named("running").admitted(5).build());

    assertThat(estimator.of(second).orElseThrow().assumptions())
        .containsExactly("jobs arrive as the last 50 did");
  }

  /** What doesn't wait for quota when it arrives, doesn't in plays. */
  @Test
  void jobsThatDoNotQueueDoNotArrive() {
    estimator.expectArrivals(
        workload -> new SchedulerEvent.WorkloadReleased(workload.id(), workload.version()));
    arrives("first", "10m");
    CachedWorkload second = arrives("second", "10m");
    estimator.synced();
    for (int i = 0; i < 60; i++) {
      estimator.changed(null, arrived("new-" + i));
    }

    assertThat(estimator.of(second).orElseThrow().assumptions())
        .containsExactly("no job arrives before it starts");
  }

  /** Who can't start takes the place of nobody who could. */
  @Test
  void whatIsHeldOrWrongOrInNoQueueIsNotRemembered() {
    estimator.expectArrivals(
        workload -> {
          PendingWorkload pending =
              OneQueue.workload(workload.id().name(), 1, 0, workload.createdAt());
          return new SchedulerEvent.WorkloadPending(
              new PendingWorkload(
                  pending.id(),
                  pending.version(),
                  pending.queueName(),
                  pending.shape(),
                  pending.priority(),
                  pending.createdAt(),
                  pending.queuedAt(),
                  Optional.empty(),
                  workload.id().name().contains("held"),
                  Optional.of("wrong").filter(_ -> workload.id().name().contains("wrong"))));
        });
    arrives("first", "10m");
    CachedWorkload second = arrives("second", "10m");
    estimator.synced();
    for (int i = 0; i < 60; i++) {
      estimator.changed(null, arrived("new-" + i));
    }
    for (int i = 0; i < RecentArrivals.MOST_AT_ONCE; i++) {
      estimator.changed(null, arrived("held-" + i));
      estimator.changed(null, arrived("wrong-" + i));
      estimator.changed(null, named("lost-" + i).inQueue("nowhere").build());
    }

    assertThat(estimator.of(second).orElseThrow().assumptions())
        .containsExactly("jobs arrive as the last 60 did");
  }

  private static CachedWorkload arrived(String name) {
    return named(name).annotated(RunTimeAnnotations.EXPECTED, "5m").build();
  }

  @Test
  void ofWhatIsInNoQueueNothingIsSaid() {
    assertThat(estimator.of(named("stranger").build())).isEmpty();
  }
}
