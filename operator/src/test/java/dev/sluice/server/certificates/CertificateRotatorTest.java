package dev.sluice.server.certificates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.server.certificates.ServerKeys.CertificateSource;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** When a source is refreshed besides the regular times. */
class CertificateRotatorTest {

  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final Duration NEVER = Duration.ofHours(1);
  private static final Duration APART = Duration.ofMillis(20);

  private final AtomicInteger refreshes = new AtomicInteger();

  @Test
  void changeDuringARefreshIsFollowedByAnother() throws Exception {
    CountDownLatch inSecond = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    CertificateSource source =
        () -> {
          if (refreshes.incrementAndGet() == 2) {
            inSecond.countDown();
            try {
              goOn.await();
            } catch (InterruptedException e) {
              throw new IOException(e);
            }
          }
        };
    try (CertificateRotator rotator = new CertificateRotator(source, NEVER, APART)) {
      assertThat(refreshes).hasValue(1);
      rotator.refreshSoon();
      assertThat(inSecond.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

      rotator.refreshSoon();
      goOn.countDown();

      await().atMost(LIMIT).untilAsserted(() -> assertThat(refreshes).hasValue(3));
    }
  }

  @Test
  void failureIsFollowedByAnotherRefresh() {
    CertificateSource source =
        () -> {
          if (refreshes.incrementAndGet() == 2) {
            throw new IOException("somebody else holds the lease");
          }
        };
    try (CertificateRotator rotator = new CertificateRotator(source, NEVER, APART)) {
      rotator.refreshSoon();

      await().atMost(LIMIT).untilAsserted(() -> assertThat(refreshes).hasValue(3));
      assertThat(rotator.isReady()).isTrue();
    }
  }
}
