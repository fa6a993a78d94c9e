package dev.sluice.kube.controller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.kube.controller.WorkQueueSettings.GroupKindConcurrency;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Exactly as many objects of a kind are reconciled at a time as the configuration says. */
class GroupKindConcurrencyTest {

  private static final int LIMIT = 3;
  private static final int OBJECTS = 9;

  private final GroupKindConcurrency concurrency =
      new GroupKindConcurrency(
          Map.of("Job.batch", LIMIT, "Pod", 4, "ClusterQueue.kueue.x-k8s.io", LIMIT));
  private final CountDownLatch entered = new CountDownLatch(LIMIT);
  private final CountDownLatch release = new CountDownLatch(1);
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();
  private final CountDownLatch ended = new CountDownLatch(OBJECTS);

  private void reconcile() throws InterruptedException {
    most.accumulateAndGet(running.incrementAndGet(), Math::max);
    entered.countDown();
    release.await();
    running.decrementAndGet();
    ended.countDown();
  }

  @Test
  void aWorkQueueOfAKindHasAsManyWorkersAsTheKindMayHave() throws InterruptedException {
    List<Thread> workers = new ArrayList<>();
    WorkQueueSettings settings =
        WorkQueueSettings.of(
                worker -> workers.add(Thread.startVirtualThread(worker)), (delay, task) -> {})
            .with(concurrency);
    try (WorkQueue<String> queue =
        new WorkQueue<>(
            key -> {
              reconcile();
              return Optional.empty();
            },
            settings.ofKind("batch", "Job"))) {
      IntStream.range(0, OBJECTS).forEach(i -> queue.enqueue("job-" + i));

      assertThat(entered.await(30, TimeUnit.SECONDS)).isTrue();
      assertThat(workers).hasSize(LIMIT);
      release.countDown();
      assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(most).hasValue(LIMIT);
  }

  @Test
  void aReconcilerOfAKindWaitsWhileAsManyRunAsTheKindMayHave() throws InterruptedException {
    Held reconciler = new Held();
    reconciler.limitConcurrency(concurrency.limit(ClusterQueue.class).orElseThrow());
    List<Thread> threads =
        IntStream.range(0, OBJECTS)
            .mapToObj(i -> Thread.startVirtualThread(() -> reconciler.reconcile(i)))
            .toList();

    assertThat(entered.await(30, TimeUnit.SECONDS)).isTrue();
    await().until(() -> threads.stream().allMatch(it -> it.getState() == Thread.State.WAITING));
    assertThat(running).hasValue(LIMIT);
    release.countDown();
    assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(most).hasValue(LIMIT);
  }

  @Test
  void aKindThatIsNotNamedKeepsTheLimitOfItsController() {
    WorkQueueSettings settings =
        WorkQueueSettings.of(Runnable::run, (delay, task) -> {}).with(concurrency);

    assertThat(settings.ofKind("", "Pod").workers()).isEqualTo(4);
    assertThat(settings.ofKind("batch", "CronJob").workers()).isEqualTo(settings.workers());
    assertThat(settings.ofKind("other", "Job").workers()).isEqualTo(settings.workers());
    assertThat(settings.ofKind("batch", "Job").firstRetry()).isEqualTo(Duration.ofMillis(500));
  }

  /** Reconciles by waiting for the test. */
  private final class Held extends LeaderAwareReconciler<ClusterQueue> {

    Held() {
      super(() -> true, new ReconcileTrigger<>("test"));
    }

    @Override
    protected Step reconcileObject(ClusterQueue queue) {
      try {
        GroupKindConcurrencyTest.this.reconcile();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      return new Step.Done();
    }

    @SuppressWarnings("unchecked")
    void reconcile(int number) {
      ClusterQueue queue = new ClusterQueue();
      queue.setMetadata(new ObjectMetaBuilder().withName("queue-" + number).build());
      Context<ClusterQueue> context =
          (Context<ClusterQueue>)
              Proxy.newProxyInstance(
                  Context.class.getClassLoader(),
                  new Class<?>[] {Context.class},
                  (proxy, method, arguments) -> false);
      try {
        reconcile(queue, context);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }
}
