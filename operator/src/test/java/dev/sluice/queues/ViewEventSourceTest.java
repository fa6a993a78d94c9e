package dev.sluice.queues;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.controller.WorkQueueSettings.GroupKindConcurrency;
import dev.sluice.queues.status.StatusRateLimiter;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** When queues are looked at after the engine has published views. */
class ViewEventSourceTest {

  private static final Duration INTERVAL = Duration.ofSeconds(1);

  private record Timer(Duration delay, Runnable task) {}

  private final List<Timer> timers = new ArrayList<>();
  private final List<String> looked = new ArrayList<>();
  private final SchedulerViews views =
      (SchedulerViews)
          Proxy.newProxyInstance(
              SchedulerViews.class.getClassLoader(),
              new Class<?>[] {SchedulerViews.class},
              (proxy, method, arguments) -> {
                looked.add(String.valueOf(arguments[0]));
                return Optional.empty();
              });
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private final ViewEventSource source =
      new ViewEventSource(
          views,
          new StatusRateLimiter<>(INTERVAL, 10, () -> 1),
          () -> now,
          new WorkQueueSettings(
              Runnable::run,
              (delay, task) -> timers.add(new Timer(delay, task)),
              () -> Duration.between(Instant.EPOCH, now).toNanos(),
              1,
              INTERVAL,
              INTERVAL,
              GroupKindConcurrency.NONE),
          new ReconcileTrigger<>("cluster-queues"),
          new ReconcileTrigger<>("local-queues"),
          new ReconcileTrigger<>("cohorts"));

  private void change(String clusterQueue) {
    source.changed(Set.of(clusterQueue), Set.of(), Set.of());
  }

  @Test
  void theFirstChangeIsLookedAtAtOnce() {
    change("a");

    assertThat(looked).containsExactly("a");
    assertThat(timers).isEmpty();
  }

  @Test
  void changesWithinAPauseAreLookedAtTogetherAtItsEnd() {
    change("a");
    now = now.plusMillis(5);
    change("b");
    now = now.plusMillis(5);
    change("c");

    assertThat(looked).containsExactly("a");
    assertThat(timers).extracting(Timer::delay).containsExactly(Duration.ofMillis(15));

    now = now.plusMillis(10);
    timers.getFirst().task().run();

    assertThat(looked).containsExactly("a", "b", "c");
  }

  @Test
  void aQueueThatMayNotBeWrittenYetIsLookedAtWhenItMay() {
    change("a");
    now = now.plusMillis(100);
    change("a");

    assertThat(timers)
        .extracting(Timer::delay)
        .containsExactly(INTERVAL.minus(Duration.ofMillis(100)));
  }
}
