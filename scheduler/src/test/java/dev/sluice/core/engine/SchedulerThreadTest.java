package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** The thread around the engine. */
class SchedulerThreadTest {

  private static final PreemptionPolicies LOWER =
      new PreemptionPolicies(
          WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.NEVER, false, OptionalInt.empty());

  @Test
  void newsIsReadAfterAHeadWentFromFlavorToFlavorForWhatAnotherOneWaits() {
    // given somebody who waits for its victims in both flavors, and a head beside it that fits in
    // either, but not after the other one: it tries each of them, and stays in line
    SchedulerFixture schedulerFixture = new SchedulerFixture();
    schedulerFixture.flavor("f");
    schedulerFixture.flavor("g");
    schedulerFixture.queue("lender", "co", quota("f", 1), quota("g", 1));
    schedulerFixture.queue("none", "co", quota("f", 0), quota("g", 0));
    schedulerFixture.queue(
        "q",
        "co",
        QueueingStrategy.BEST_EFFORT_FIFO,
        LOWER,
        new FlavorFungibility(true, true, false),
        quota("f", 3),
        quota("g", 3));
    schedulerFixture.submit("one", "q", 2, 0, 0);
    schedulerFixture.submit("other", "q", 2, 0, 1);
    assertThat(schedulerFixture.admitted()).containsExactly("one", "other");
    schedulerFixture.reserving("one", true, true);
    schedulerFixture.reserving("other", true, true);
    schedulerFixture.submit("both", "q", bothFlavors(), 9);
    schedulerFixture.submit("beside", "none", 2, 0, 2);
    int cycles = 0;
    while (cycles < 300 && schedulerFixture.engine.cycle()) {
      cycles++;
    }
    assertThat(cycles).isLessThan(20);
    assertThat(schedulerFixture.preempted()).hasSize(2);

    // when that happens in the loop, and the victims' end is told
    Queue<Decision> decisions = new ConcurrentLinkedQueue<>();
    SchedulerThread loop =
        new SchedulerThread(
            EngineOptions.DEFAULT,
            decisions::add,
            (nanos, admitted) -> {},
            Clock.systemUTC(),
            fault -> {});
    try (loop) {
      int told = schedulerFixture.told().size();
      schedulerFixture.told().forEach(loop::submit);
      loop.start();
      await()
          .atMost(Duration.ofMinutes(2))
          .until(() -> decisions.stream().anyMatch(Decision.Preempt.class::isInstance));
      schedulerFixture.finish("one");
      schedulerFixture.finish("other");
      schedulerFixture.told().subList(told, schedulerFixture.told().size()).forEach(loop::submit);

      // then it is read
      await()
          .atMost(Duration.ofMinutes(2))
          .until(
              () ->
                  decisions.stream()
                      .anyMatch(
                          each ->
                              each instanceof Decision.Admit admit
                                  && admit.id().name().equals("both")));
    }
  }

  @Test
  void aCycleThatOnlyEvictsIsASuccess() {
    SchedulerFixture schedulerFixture = new SchedulerFixture();
    schedulerFixture.flavor("f");
    schedulerFixture.queue(
        "q",
        "",
        QueueingStrategy.BEST_EFFORT_FIFO,
        LOWER,
        new FlavorFungibility(true, true, false),
        quota("f", 3));
    schedulerFixture.submit("low", "q", 2, 0, 0);
    assertThat(schedulerFixture.admitted()).containsExactly("low");
    schedulerFixture.reserving("low", true, true);
    schedulerFixture.submit("high", "q", 2, 9, 1);

    Queue<String> told = new ConcurrentLinkedQueue<>();
    SchedulerThread loop =
        new SchedulerThread(
            EngineOptions.DEFAULT,
            decision -> told.add(decision.getClass().getSimpleName()),
            (nanos, success) -> told.add(success ? "success" : "inadmissible"),
            Clock.systemUTC(),
            fault -> {});
    try (loop) {
      schedulerFixture.told().forEach(loop::submit);
      loop.start();
      await().atMost(Duration.ofMinutes(2)).until(() -> told.size() >= 2);
    }
    assertThat(told).startsWith("Preempt", "success");
  }

  private static RequestShape bothFlavors() {
    return new RequestShape(List.of(podSet("one"), podSet("other")));
  }

  private static PodSetRequest podSet(String name) {
    return new PodSetRequest(
        name, 1, 0, new TreeMap<>(Map.of("cpu", 3L)), NodeConstraints.ANYWHERE, "");
  }
}
