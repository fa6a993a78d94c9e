package dev.sluice.checks.multikueue.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FenceTimeoutsTest {

  @ParameterizedTest
  @CsvSource({
    // time-out, grace, stop after, renew every
    "PT15M, PT30S, PT14M10S, PT20S",
    "PT15M, PT5M, PT9M40S, PT20S",
    "PT15M, PT10M, PT7M30S, PT20S",
    "PT2M, PT30S, PT1M10S, PT12S",
    "PT10S, PT30S, PT5S, PT1S",
    "PT10S, PT0S, PT8S, PT1S",
    "PT3S, PT0S, PT2.4S, PT0.5S",
  })
  void allFollowsFromTheTimeOut(
      Duration timeout, Duration grace, Duration stopAfter, Duration renewEvery) {
    FenceTimeouts terms = new FenceTimeouts(timeout);

    assertThat(terms.fences()).isTrue();
    assertThat(terms.stopAfter(grace)).isEqualTo(stopAfter);
    assertThat(terms.renewEvery()).isEqualTo(renewEvery);
  }

  @Test
  void wherePodsEndInTimeTheReserveIsLeft() {
    FenceTimeouts terms = new FenceTimeouts(Duration.ofMinutes(15));
    Duration grace = Duration.ofMinutes(7);

    assertThat(terms.stopAfter(grace).plus(grace).plus(terms.reserve()))
        .isEqualTo(terms.lostTimeout());
  }

  @Test
  void aTimeOutThatLeavesNoTimeFencesNothing() {
    assertThat(new FenceTimeouts(Duration.ofMillis(2999)).fences()).isFalse();
    assertThat(new FenceTimeouts(Duration.ZERO).fences()).isFalse();
  }
}
