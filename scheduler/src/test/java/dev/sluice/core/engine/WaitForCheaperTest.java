package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.core.model.QueueRules.CostRules.CheapestFirst;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Nobody waits for a cheaper flavor longer than the tolerated delay, whatever runs, ends, and is
 * told of run times (docs/prices.md#waiting-for-a-cheaper-flavor).
 */
class WaitForCheaperTest {

  private static final int WORLDS = 150;
  private static final int STEPS = 200;

  private record Waiting(WorkloadId id, Instant until) {}

  /** One made-up world. */
  private static final class World {
    private final SchedulerFixture scheduler = new SchedulerFixture();
    private final Random random;
    private final Duration delay;
    private final Map<String, Waiting> waiting = new LinkedHashMap<>();
    private final Map<String, Integer> running = new HashMap<>();
    private int decided;
    private int waits;
    private int second;

    World(long seed) {
      random = new Random(seed);
      delay = Duration.ofSeconds(60L + random.nextInt(300));
      for (int i = 0; i < 3; i++) {
        scheduler.flavor("f" + i);
        scheduler.engine.apply(
            new SchedulerEvent.PricesChanged(
                "f" + i, Map.of("cpu", BigDecimal.valueOf(1 + random.nextInt(5)))));
      }
      scheduler.queue(
          "q",
          "",
          QueueingStrategy.BEST_EFFORT_FIFO,
          QueueRules.DEFAULT.withCheapest(Optional.of(new CheapestFirst(Optional.of(delay)))),
          SchedulerFixture.quota("f0", 4),
          SchedulerFixture.quota("f1", 4),
          SchedulerFixture.quota("f2", 4));
    }

    int play() {
      for (int step = 0; step < STEPS; step++) {
        switch (random.nextInt(6)) {
          case 0, 1 -> submit("w" + step);
          case 2 -> end();
          case 3 -> bound(any());
          default -> pass();
        }
        check();
      }
      return waits;
    }

    private void submit(String name) {
      if (random.nextInt(4) > 0) {
        bound(name);
      }
      Optional<Duration> own =
          random.nextInt(3) == 0
              ? Optional.of(Duration.ofSeconds(random.nextInt(200)))
              : Optional.empty();
      // Some come back to a place that they had in the queue before.
      int queuedAt = Math.max(0, second - (random.nextInt(4) == 0 ? random.nextInt(200) : 0));
      WorkloadId id =
          scheduler.submit(
              name,
              "q",
              SchedulerFixture.shape(1 + random.nextInt(4))
                  .costing(own.map(mine -> new CostRules(Optional.empty(), Optional.empty(), own))),
              0,
              queuedAt);
      waiting.put(
          name,
          new Waiting(id, SchedulerFixture.START.plusSeconds(queuedAt).plus(own.orElse(delay))));
    }

    private void bound(String name) {
      scheduler.engine.apply(
          new SchedulerEvent.RunBounded(
              new WorkloadId("uid-" + name, "ns", name),
              RunBound.of(Duration.ofSeconds(1 + random.nextInt(200)))));
    }

    private String any() {
      List<String> names = new ArrayList<>(running.keySet());
      return names.isEmpty() ? "nobody" : names.get(random.nextInt(names.size()));
    }

    private void end() {
      String name = any();
      if (running.remove(name) != null) {
        scheduler.finish(name);
      }
    }

    private void pass() {
      second += 1 + random.nextInt(40);
      scheduler.passed(Duration.ofSeconds(second));
    }

    private void check() {
      scheduler.passed(Duration.ofSeconds(second));
      while (scheduler.engine.cycle()) {
        // until nothing is left to evaluate
      }
      for (; decided < scheduler.decisions.size(); decided++) {
        Decision decision = scheduler.decisions.get(decided);
        waiting.remove(decision.id().name());
        running.put(decision.id().name(), 1);
      }
      Instant now = SchedulerFixture.START.plusSeconds(second);
      for (Waiting each : waiting.values()) {
        boolean waitsForCheaper = isHeldBack(each.id());
        waits += waitsForCheaper ? 1 : 0;
        assertThat(waitsForCheaper && !each.until().isAfter(now) && isFirst(each))
            .as("%s waits at %s although it may wait until %s only", each.id(), now, each.until())
            .isFalse();
      }
    }

    /** Whether nobody of the same request is before it. */
    private boolean isFirst(Waiting one) {
      return waiting.values().stream()
          .filter(other -> isHeldBack(other.id()))
          .noneMatch(other -> other.until().isBefore(one.until()));
    }

    private boolean isHeldBack(WorkloadId id) {
      return scheduler
          .engine
          .queries()
          .pendingReason(id)
          .flatMap(SchedulerQueries.PendingReport::explanation)
          .filter(
              explanation ->
                  explanation.attempts().stream()
                      .flatMap(attempt -> attempt.flavorRejections().stream())
                      .anyMatch(FlavorRejection.WaitsForCheaper.class::isInstance))
          .isPresent();
    }
  }

  @Test
  void nobodyWaitsLongerThanTheToleratedDelay() {
    int waits = 0;
    for (long seed = 1; seed <= WORLDS; seed++) {
      waits += new World(seed).play();
    }
    assertThat(waits).as("how often somebody waited").isGreaterThan(1_000);
  }
}
