package dev.sluice.checks.multikueue.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.multikueue.fencing.FencingController.FencePolicy;
import dev.sluice.checks.multikueue.fencing.FencingController.LeaseClock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LeaseClockTest {

  /** The manager's clock is a day ahead. */
  private static final Duration AHEAD = Duration.ofDays(1);

  private static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");

  private static Instant at(long seconds) {
    return NOON.plusSeconds(seconds);
  }

  private static Instant sent(long seconds) {
    return at(seconds).plus(AHEAD);
  }

  /** Came between 1 and 3. */
  private static LeaseClock listed() {
    return LeaseClock.listed("one", sent(0), at(1), at(3));
  }

  @Test
  void whatWasThereCountsFromWhenItCameAtTheEarliest() {
    assertThat(listed().lastRenewal()).isEqualTo(at(1));
  }

  @Test
  void theFirstArrivalIsBelievedIfItWasAsQuickAsWhatWasThereMayHaveBeen() {
    assertThat(listed().renewed("one", sent(10), at(13)).lastRenewal()).isEqualTo(at(13));
  }

  @Test
  void theFirstArrivalAfterAStartCountsFromItsSendingIfItWasHeldUp() {
    LeaseClock clock = listed().renewed("one", sent(10), at(14));

    assertThat(clock.lastRenewal()).isEqualTo(at(11));
    assertThat(clock.renewed("one", sent(20), at(22)).lastRenewal()).isEqualTo(at(22));
  }

  @Test
  void aRenewalThatWasHeldUpCountsFromItsSending() {
    LeaseClock clock = listed().renewed("one", sent(10), at(10)).renewed("one", sent(20), at(50));

    assertThat(clock.lastRenewal()).isEqualTo(at(20));
  }

  @Test
  void aQuickerOneShowsHowSlowTheOthersWere() {
    LeaseClock clock = listed().renewed("one", sent(10), at(12)).renewed("one", sent(20), at(20));

    assertThat(clock.lastRenewal()).isEqualTo(at(20));
    assertThat(clock.renewed("one", sent(30), at(34)).lastRenewal()).isEqualTo(at(30));
  }

  @Test
  void whatIsKnownOrOlderChangesNothing() {
    LeaseClock clock = listed().renewed("one", sent(10), at(10));

    assertThat(clock.renewed("one", sent(10), at(40))).isEqualTo(clock);
    assertThat(clock.renewed("one", sent(5), at(40))).isEqualTo(clock);
  }

  @Test
  void anotherProcessHasAnotherClock() {
    LeaseClock clock = listed().renewed("one", sent(10), at(10)).renewed("two", at(20), at(20));

    assertThat(clock.lastRenewal()).isEqualTo(at(20));
  }

  @Test
  void theDeadlineIsCountedFromTheLeaseOrElseFromTheCopy() {
    Duration after = Duration.ofSeconds(8);

    assertThat(FencePolicy.deadline(Optional.of(listed()), at(100), after)).isEqualTo(at(9));
    assertThat(FencePolicy.deadline(Optional.empty(), at(100), after)).isEqualTo(at(108));
  }
}
