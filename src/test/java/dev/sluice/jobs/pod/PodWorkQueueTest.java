package dev.sluice.jobs.pod;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Who is looked at, and when; tasks and alarms are run by hand. */
class PodWorkQueueTest {

  private final Deque<Runnable> tasks = new ArrayDeque<>();
  private final List<Duration> delays = new ArrayList<>();
  private final List<Runnable> alarms = new ArrayList<>();
  private final List<String> looks = new ArrayList<>();
  private PodWorkQueue.Processor<String> processor = unit -> Optional.empty();
  private final PodWorkQueue<String> queue =
      new PodWorkQueue<>(
          unit -> {
            looks.add(unit);
            return processor.at(unit);
          },
          tasks::add,
          (delay, task) -> {
            delays.add(delay);
            alarms.add(task);
          });

  private void runAll() {
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
  }

  @Test
  void whoIsWokenTwiceBeforeBeingLookedAtIsLookedAtOnce() {
    queue.enqueue("a");
    queue.enqueue("a");
    queue.enqueue("b");
    runAll();
    assertThat(looks).containsExactly("a", "b");
    queue.enqueue("a");
    runAll();
    assertThat(looks).containsExactly("a", "b", "a");
  }

  @Test
  void whoIsWokenWhileBeingLookedAtIsLookedAtOnceMore() {
    processor =
        unit -> {
          if (looks.size() == 1) {
            queue.enqueue(unit);
            queue.enqueue(unit);
            assertThat(tasks).isEmpty();
          }
          return Optional.empty();
        };
    queue.enqueue("a");
    runAll();
    assertThat(looks).containsExactly("a", "a");
  }

  @Test
  void theNewestAlarmRings() {
    processor =
        unit -> looks.size() < 3 ? Optional.of(Duration.ofSeconds(looks.size())) : Optional.empty();
    queue.enqueue("a");
    runAll();
    queue.enqueue("a");
    runAll();
    assertThat(delays).containsExactly(Duration.ofSeconds(1), Duration.ofSeconds(2));
    alarms.get(0).run();
    runAll();
    assertThat(looks).hasSize(2);
    alarms.get(1).run();
    runAll();
    assertThat(looks).hasSize(3);
  }

  @Test
  void whatFailsIsTriedAgainLaterEachTime() {
    processor =
        unit -> {
          throw new IllegalStateException("no answer");
        };
    queue.enqueue("a");
    runAll();
    alarms.getLast().run();
    runAll();
    alarms.getLast().run();
    runAll();
    assertThat(delays)
        .containsExactly(Duration.ofMillis(500), Duration.ofSeconds(1), Duration.ofSeconds(2));
    processor = unit -> Optional.empty();
    alarms.getLast().run();
    runAll();
    assertThat(delays).hasSize(3);
  }
}
