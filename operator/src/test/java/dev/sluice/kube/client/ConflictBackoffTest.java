package dev.sluice.kube.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ConflictBackoffTest {

  private final ConflictBackoff<String> backoff = new ConflictBackoff<>();

  @Test
  void conflictsInARowAreRetriedLaterAndLater() {
    assertThat(Stream.generate(() -> backoff.next("a")).limit(7).map(Duration::toMillis))
        .containsExactly(200L, 400L, 800L, 1600L, 3200L, 6400L, 6400L);
  }

  /** Who is deleted meanwhile is never written, and nobody says so. */
  @Test
  void objectsWithoutFurtherConflictsAreForgotten() {
    AtomicLong time = new AtomicLong();
    ConflictBackoff<String> forgetting = new ConflictBackoff<>(time::get);
    for (int i = 0; i < 100; i++) {
      var unused = forgetting.next("a" + i);
      time.addAndGet(Duration.ofSeconds(1).toNanos());
    }
    assertThat(forgetting.remembered()).isLessThanOrEqualTo(60);
    assertThat(forgetting.next("a99")).isEqualTo(Duration.ofMillis(400));
    assertThat(forgetting.next("a0")).isEqualTo(Duration.ofMillis(200));
  }

  @Test
  void anotherObjectAndASuccessBeginAnew() {
    var unused = backoff.next("a");

    assertThat(backoff.next("b")).isEqualTo(Duration.ofMillis(200));
    backoff.reset("a");
    assertThat(backoff.next("a")).isEqualTo(Duration.ofMillis(200));
  }
}
