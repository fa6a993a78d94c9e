package dev.sluice.kube.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.sluice.kube.client.ApiClient.WriteLatency;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WriteLatencyTest {

  private final AtomicLong clock = new AtomicLong();
  private final WriteLatency latency = new WriteLatency(clock::get);

  private void writes(int count, long millis) {
    for (int i = 0; i < count; i++) {
      long start = latency.began();
      clock.addAndGet(Duration.ofMillis(millis).toNanos());
      latency.ended(start);
    }
  }

  @Test
  void everythingMayBeUsedWhileTheServerAnswersAsUsual() {
    assertThat(latency.share()).isEqualTo(1);
    writes(50, 20);
    assertThat(latency.share()).isEqualTo(1);
  }

  @Test
  void theLongerWritesTakeTheLessMayBeUsed() {
    writes(100, 71);
    assertThat(latency.share()).isCloseTo(0.5, within(0.01));
    writes(100, 100);
    assertThat(latency.share()).isCloseTo(0.25, within(0.01));
    writes(100, 30_000);
    assertThat(latency.share()).isEqualTo(0.1);
  }

  @Test
  void oneSlowWriteChangesLittle() {
    writes(50, 20);
    writes(1, 300);
    assertThat(latency.share()).isEqualTo(1);
  }

  @Test
  void whatIsLongAgoIsForgotten() {
    writes(100, 400);
    clock.addAndGet(Duration.ofSeconds(6).toNanos());
    assertThat(latency.share()).isEqualTo(1);
    writes(1, 20);
    assertThat(latency.share()).isEqualTo(1);
  }

  @Test
  void aWriteIsUnderWayUntilItHasEnded() {
    WriteLatency latency = new WriteLatency(() -> 0);
    assertThat(latency.isWriting()).isFalse();
    long first = latency.began();
    long second = latency.began();
    latency.ended(first);
    assertThat(latency.isWriting()).isTrue();
    latency.ended(second);
    assertThat(latency.isWriting()).isFalse();
  }
}
