package dev.sluice.kube.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.kube.controller.WorkQueue.KeyHandler;
import dev.sluice.kube.controller.WorkQueueSettings.GroupKindConcurrency;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The order and number of handler calls; the test runs worker tasks and timers by hand. */
class WorkQueueTest {

  private record Timer(long due, Duration delay, Runnable task) {}

  private final Deque<Runnable> tasks = new ArrayDeque<>();
  private final List<Timer> timers = new ArrayList<>();
  private final List<Duration> delays = new ArrayList<>();
  private final List<String> handled = new ArrayList<>();
  private volatile long now = 5;
  private KeyHandler<String> handler = key -> Optional.empty();
  private final WorkQueue<String> queue =
      new WorkQueue<>(
          key -> {
            handled.add(key);
            return handler.handle(key);
          },
          new WorkQueueSettings(
              tasks::add,
              this::schedule,
              () -> now,
              2,
              Duration.ofMillis(500),
              Duration.ofSeconds(3),
              GroupKindConcurrency.NONE));

  private void schedule(Duration delay, Runnable task) {
    delays.add(delay);
    timers.add(new Timer(now + delay.toNanos(), delay, task));
  }

  private void runTasks() {
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
  }

  /** Lets time pass; runs the timers that become due and the workers that they start. */
  private void advance(Duration time) {
    now += time.toNanos();
    List<Timer> due = timers.stream().filter(timer -> timer.due() <= now).toList();
    timers.removeAll(due);
    due.forEach(timer -> timer.task().run());
    runTasks();
  }

  @Test
  void aKeyEnqueuedTwiceBeforeItIsTakenIsHandledOnce() {
    queue.enqueue("a");
    queue.enqueue("b");
    queue.enqueue("a");
    runTasks();
    assertThat(handled).containsExactly("a", "b");
    queue.enqueue("a");
    runTasks();
    assertThat(handled).containsExactly("a", "b", "a");
  }

  @Test
  void aKeyEnqueuedWhileItIsHandledIsHandledOnceMore() {
    handler =
        key -> {
          if (handled.size() == 1) {
            queue.enqueue(key);
            queue.enqueue(key);
            queue.enqueue("b");
          }
          return Optional.empty();
        };
    queue.enqueue("a");
    runTasks();
    assertThat(handled).containsExactly("a", "b", "a");
  }

  @Test
  void oneKeyIsNeverHandledByTwoWorkers() {
    handler =
        key -> {
          if (handled.size() == 1) {
            queue.enqueue(key);
            runTasks();
            assertThat(handled).hasSize(1);
          }
          return Optional.empty();
        };
    queue.enqueue("a");
    runTasks();
    assertThat(handled).containsExactly("a", "a");
  }

  @Test
  void noMoreWorkersStartThanAllowed() {
    List.of("a", "b", "c", "d").forEach(queue::enqueue);
    assertThat(tasks).hasSize(2);
    tasks.remove().run();
    assertThat(handled).containsExactly("a", "b", "c", "d");
    runTasks();
    queue.enqueue("e");
    runTasks();
    assertThat(handled).containsExactly("a", "b", "c", "d", "e");
  }

  @Test
  void theEarliestDelayOfAKeyWins() {
    queue.enqueueAfter("a", Duration.ofSeconds(5));
    queue.enqueueAfter("a", Duration.ofSeconds(2));
    queue.enqueueAfter("a", Duration.ofSeconds(8));
    assertThat(delays).containsExactly(Duration.ofSeconds(5), Duration.ofSeconds(2));
    advance(Duration.ofSeconds(1));
    assertThat(handled).isEmpty();
    advance(Duration.ofSeconds(1));
    assertThat(handled).containsExactly("a");
    advance(Duration.ofSeconds(10));
    assertThat(handled).containsExactly("a");
  }

  @Test
  void aDelayOfZeroEnqueuesAtOnce() {
    queue.enqueueAfter("a", Duration.ZERO);
    runTasks();
    assertThat(handled).containsExactly("a");
    assertThat(delays).isEmpty();
  }

  @Test
  void theHandlerMayAskForAnotherCallAfterADelay() {
    handler = key -> handled.size() < 2 ? Optional.of(Duration.ofSeconds(1)) : Optional.empty();
    queue.enqueue("a");
    runTasks();
    advance(Duration.ofSeconds(1));
    advance(Duration.ofSeconds(1));
    assertThat(handled).containsExactly("a", "a");
  }

  @Test
  void retriesOfAFailingKeyBackOffUpToTheLimitAndStartAnewAfterASuccess() {
    handler =
        key -> {
          throw new IllegalStateException("no answer");
        };
    queue.enqueue("a");
    runTasks();
    for (int retry = 0; retry < 4; retry++) {
      advance(delays.getLast());
    }
    assertThat(delays)
        .containsExactly(
            Duration.ofMillis(500),
            Duration.ofSeconds(1),
            Duration.ofSeconds(2),
            Duration.ofSeconds(3),
            Duration.ofSeconds(3));
    KeyHandler<String> failing = handler;
    handler = key -> Optional.empty();
    advance(Duration.ofSeconds(3));
    assertThat(delays).hasSize(5);
    handler = failing;
    queue.enqueue("a");
    runTasks();
    assertThat(delays.getLast()).isEqualTo(Duration.ofMillis(500));
  }

  @Test
  void aForgottenKeyStartsItsBackOffAnew() {
    handler =
        key -> {
          throw new IllegalStateException("no answer");
        };
    queue.enqueue("a");
    runTasks();
    queue.forget("a");
    advance(Duration.ofMillis(500));
    assertThat(delays).containsExactly(Duration.ofMillis(500), Duration.ofMillis(500));
  }

  @Test
  void aFailureOfOneKeyLeavesOthersAlone() {
    handler =
        key -> {
          if (key.equals("a")) {
            throw new StackOverflowError();
          }
          return Optional.empty();
        };
    queue.enqueue("a");
    queue.enqueue("b");
    runTasks();
    assertThat(handled).containsExactly("a", "b");
    assertThat(delays).containsExactly(Duration.ofMillis(500));
  }

  @Test
  void afterClosingNothingIsHandledAnyMore() {
    queue.enqueueAfter("a", Duration.ofSeconds(1));
    queue.enqueue("b");
    queue.close();
    runTasks();
    advance(Duration.ofSeconds(2));
    queue.enqueue("c");
    queue.enqueueAfter("d", Duration.ofSeconds(1));
    advance(Duration.ofSeconds(2));
    assertThat(handled).isEmpty();
  }

  @Test
  void closingWaitsForTheKeyThatIsBeingHandled() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    handler =
        key -> {
          begun.countDown();
          end.await();
          return Optional.empty();
        };
    queue.enqueue("a");
    Thread worker = Thread.ofVirtual().start(tasks.remove());
    begun.await();
    now += Duration.ofSeconds(3).toNanos();

    assertThat(queue.longestHandling()).isEqualTo(Duration.ofSeconds(3));
    assertThat(queue.close(Duration.ofMillis(20))).isFalse();
    var closed = CompletableFuture.supplyAsync(() -> queue.close(Duration.ofSeconds(20)));
    end.countDown();

    assertThat(closed.get(20, TimeUnit.SECONDS)).isTrue();
    assertThat(queue.longestHandling()).isZero();
    worker.join();
  }

  @Test
  void anErrorEndsNoWorker() {
    handler =
        key -> {
          if (key.equals("a")) {
            throw new LinkageError("intended");
          }
          return Optional.empty();
        };
    List.of("a", "b", "c").forEach(queue::enqueue);
    tasks.removeLast();
    runTasks();

    assertThat(handled).containsExactly("a", "b", "c");
    assertThat(delays).containsExactly(Duration.ofMillis(500));
  }
}
