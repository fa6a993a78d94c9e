package dev.sluice.kube.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RequestLimiterTest {

  private final AtomicLong nanos = new AtomicLong(5_000);
  private final RequestLimiter limiter = new RequestLimiter(10, 3, nanos::get);

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  private void takeBurst() {
    for (int i = 0; i < 3; i++) {
      assertThat(limiter.reserve()).isZero();
    }
  }

  @Test
  void aBurstLeavesAtOnceAndTheRestAtTheRate() {
    takeBurst();

    assertThat(limiter.reserve()).isEqualTo(Duration.ofMillis(100));
    assertThat(limiter.reserve()).isEqualTo(Duration.ofMillis(200));
  }

  @Test
  void tokensComeBackWithTimeUpToTheBurst() {
    takeBurst();

    pass(Duration.ofMillis(100));
    assertThat(limiter.reserve()).isZero();
    assertThat(limiter.reserve()).isEqualTo(Duration.ofMillis(100));

    pass(Duration.ofHours(1));
    takeBurst();
    assertThat(limiter.reserve()).isEqualTo(Duration.ofMillis(100));
  }

  @Test
  void reservationsAreServedBeforeLaterRequests() {
    takeBurst();
    assertThat(limiter.reserve()).isEqualTo(Duration.ofMillis(100));

    pass(Duration.ofMillis(50));

    assertThat(limiter.reserve()).isEqualTo(Duration.ofMillis(150));
  }

  @Test
  void aClockThatGoesBackGivesNoTokensAndTakesNone() {
    takeBurst();

    pass(Duration.ofSeconds(-10));

    assertThat(limiter.reserve()).isEqualTo(Duration.ofMillis(100));
  }

  @Test
  void aRateThatIsNotPositiveMeansNoLimit() {
    RequestLimiter unlimited = new RequestLimiter(-1, 1, nanos::get);
    for (int i = 0; i < 1000; i++) {
      assertThat(unlimited.reserve()).isZero();
    }
  }
}
