package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.multikueue.sync.ReconcileState.MessageThrottle;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class MessageThrottleTest {

  private static final Instant T0 = Instant.parse("2026-03-01T12:00:00Z");

  private final MessageThrottle messageThrottle = new MessageThrottle();

  @Test
  void whatHoldsForAMomentIsWrittenAndNotBefore() {
    assertThat(messageThrottle.due("a", "", T0)).contains(T0.plusSeconds(3));
    assertThat(messageThrottle.due("a", "", T0.plusSeconds(1))).contains(T0.plusSeconds(3));
  }

  @Test
  void whatIsWrittenAlreadyIsNotWrittenAgain() {
    assertThat(messageThrottle.due("a", "a", T0)).isEmpty();
    assertThat(messageThrottle.due("", "a", T0)).isEmpty();
  }

  @Test
  void aTextThatKeepsChangingIsWrittenAllTheSameButNotOften() {
    var unused = messageThrottle.due("a", "", T0);
    assertThat(messageThrottle.due("b", "", T0.plusSeconds(2))).contains(T0.plusSeconds(3));
    messageThrottle.written(T0.plusSeconds(3));

    assertThat(messageThrottle.due("c", "b", T0.plusSeconds(4))).contains(T0.plusSeconds(13));
  }

  @Test
  void whatWentBackInTheMeantimeIsNotWritten() {
    var unused = messageThrottle.due("b", "a", T0);
    assertThat(messageThrottle.due("a", "a", T0.plusSeconds(1))).isEmpty();

    assertThat(messageThrottle.due("b", "a", T0.plusSeconds(60))).contains(T0.plusSeconds(63));
  }
}
