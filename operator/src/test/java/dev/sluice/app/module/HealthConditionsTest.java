package dev.sluice.app.module;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.app.module.CertificateModule.CacheReadiness;
import dev.sluice.app.module.SchedulerModule.EngineWatchdog;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.WorkloadId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** When liveness and readiness fail, by clocks that the test moves. */
class HealthConditionsTest {

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 10);
  private final Questions questions = new Questions();
  private final EngineWatchdog watchdog = new EngineWatchdog(questions, nanos::get);

  /** An engine that answers when the test says so. */
  private static final class Questions implements SchedulerQueries {

    private final List<CompletableFuture<Optional<PendingReport>>> asked = new ArrayList<>();

    @Override
    public CompletableFuture<Optional<PendingReport>> pendingReason(WorkloadId id) {
      asked.add(new CompletableFuture<>());
      return asked.getLast();
    }

    void answer() {
      asked.getLast().complete(Optional.empty());
    }

    @Override
    public CompletableFuture<Optional<List<PendingPosition>>> pendingInClusterQueue(
        String clusterQueue, int offset, int limit) {
      throw new AssertionError("not asked");
    }

    @Override
    public CompletableFuture<Optional<List<PendingPosition>>> pendingInLocalQueue(
        LocalQueueId queue, int offset, int limit) {
      throw new AssertionError("not asked");
    }

    @Override
    public CompletableFuture<List<PendingExplanation>> unreportedExplanations(int max) {
      throw new AssertionError("not asked");
    }
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  @Test
  void anEngineThatAnswersIsAlive() {
    for (int i = 0; i < 3; i++) {
      assertThat(watchdog.alive()).isTrue();
      questions.answer();
      pass(Duration.ofMinutes(10));
    }
    assertThat(watchdog.alive()).isTrue();
    assertThat(questions.asked).hasSize(4);
  }

  @Test
  void anEngineThatDoesNotAnswerForAMinuteIsNotAlive() {
    assertThat(watchdog.alive()).isTrue();
    pass(Duration.ofSeconds(59));
    assertThat(watchdog.alive()).isTrue();
    pass(Duration.ofSeconds(1));
    assertThat(watchdog.alive()).isFalse();
    assertThat(questions.asked).hasSize(1);

    questions.answer();

    assertThat(watchdog.alive()).isTrue();
  }

  @Test
  void thereIsReadinessWhenTheClusterIsListedOrMayNeedConversion() {
    AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    CompletableFuture<Void> listed = new CompletableFuture<>();
    CacheReadiness caches = new CacheReadiness(listed, now::get);
    CacheReadiness unlisted = new CacheReadiness(new CompletableFuture<>(), now::get);

    assertThat(caches.holds()).isFalse();
    listed.complete(null);
    assertThat(caches.holds()).isTrue();

    now.updateAndGet(it -> it.plus(CacheReadiness.CONVERSION_GRACE).minusMillis(1));
    assertThat(unlisted.holds()).isFalse();
    now.updateAndGet(it -> it.plusMillis(1));
    assertThat(unlisted.holds()).isTrue();
  }
}
