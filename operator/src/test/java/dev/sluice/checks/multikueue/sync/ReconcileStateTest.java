package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ReconcileStateTest {

  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  /** A Workload that is sent back runs, and ends, more than once. */
  @Test
  void eachRunHasItsOwnTimeForItsEndToBeSeen() {
    ReconcileState state = new ReconcileState();
    state.runBegins();
    assertThat(state.untilFinished(NOW)).contains(Duration.ofSeconds(5));
    assertThat(state.untilEndSeen(NOW)).contains(Duration.ofSeconds(1));
    state.withoutRound();
    Instant later = NOW.plusSeconds(60);
    assertThat(state.untilFinished(later)).isEmpty();
    assertThat(state.untilEndSeen(later)).isEmpty();

    state.runBegins();

    assertThat(state.untilFinished(later)).contains(Duration.ofSeconds(5));
    assertThat(state.untilEndSeen(later)).contains(Duration.ofSeconds(1));
  }

  @Test
  void aJobThatCanBeSentIsReadOnce() {
    ReconcileState state = new ReconcileState();
    assertThat(state.isSendable()).isFalse();
    state.sendsJob();
    assertThat(state.isSendable()).isTrue();
  }
}
