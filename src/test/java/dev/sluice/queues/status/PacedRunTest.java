package dev.sluice.queues.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PacedRunTest {

  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");

  private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);
  private final List<Instant> runs = new CopyOnWriteArrayList<>();

  @AfterEach
  void stop() {
    executor.shutdownNow();
  }

  private PacedRun paced(InstantSource clock, Duration pause, Optional<Duration> again) {
    return new PacedRun(
        executor,
        clock,
        pause,
        now -> {
          runs.add(now);
          return again.map(now::plus);
        });
  }

  @Test
  void theFirstRequestRunsAtOnce() {
    paced(InstantSource.fixed(START), Duration.ofHours(1), Optional.empty()).request();

    await().untilAsserted(() -> assertThat(runs).containsExactly(START));
  }

  @Test
  void howeverManyRequestARunOneIsWaiting() {
    PacedRun pacedRun =
        paced(InstantSource.fixed(START), Duration.ofHours(1), Optional.of(Duration.ofMinutes(10)));
    pacedRun.request();
    await().until(() -> runs.size() == 1 && executor.getQueue().size() == 1);

    for (int i = 0; i < 1_000; i++) {
      pacedRun.request();
    }

    assertThat(executor.getQueue()).hasSize(1);
    assertThat(runs).hasSize(1);
  }

  @Test
  void twoRunsHaveAPauseBetweenThem() {
    Duration pause = Duration.ofMillis(30);
    PacedRun pacedRun = paced(InstantSource.system(), pause, Optional.empty());

    await()
        .pollInterval(Duration.ofMillis(1))
        .until(
            () -> {
              pacedRun.request();
              return runs.size() >= 5;
            });

    for (int i = 1; i < runs.size(); i++) {
      // The executor may begin up to a millisecond early, because it is told whole milliseconds.
      assertThat(Duration.between(runs.get(i - 1), runs.get(i)))
          .isGreaterThanOrEqualTo(pause.minusMillis(1));
    }
  }

  @Test
  void aRequestComesBeforeALaterRunThatTheTaskAskedFor() {
    AtomicReference<Instant> now = new AtomicReference<>(START);
    PacedRun pacedRun = paced(now::get, Duration.ofSeconds(1), Optional.of(Duration.ofHours(1)));
    pacedRun.request();
    await().until(() -> runs.size() == 1 && executor.getQueue().size() == 1);

    now.set(START.plusSeconds(2));
    pacedRun.request();

    await().untilAsserted(() -> assertThat(runs).containsExactly(START, START.plusSeconds(2)));
  }

  @Test
  void theTaskRunsAgainWhenItAsksForIt() {
    paced(InstantSource.system(), Duration.ZERO, Optional.of(Duration.ofMillis(2))).request();

    await().until(() -> runs.size() >= 3);
  }
}
