package dev.sluice.checks.multikueue.sending;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class TellingTest {

  private static final Instant T0 = Instant.parse("2026-03-01T12:00:00Z");

  private final Telling telling = new Telling();

  @Test
  void whatHoldsForAMomentIsWrittenAndNotBefore() {
    assertThat(telling.due("a", "", T0)).contains(T0.plusSeconds(3));
    assertThat(telling.due("a", "", T0.plusSeconds(1))).contains(T0.plusSeconds(3));
  }

  @Test
  void whatIsWrittenAlreadyIsNotWrittenAgain() {
    assertThat(telling.due("a", "a", T0)).isEmpty();
    assertThat(telling.due("", "a", T0)).isEmpty();
  }

  @Test
  void aTextThatKeepsChangingIsWrittenAllTheSameButNotOften() {
    var unused = telling.due("a", "", T0);
    assertThat(telling.due("b", "", T0.plusSeconds(2))).contains(T0.plusSeconds(3));
    telling.wrote(T0.plusSeconds(3));

    assertThat(telling.due("c", "b", T0.plusSeconds(4))).contains(T0.plusSeconds(13));
  }

  @Test
  void whatWentBackInTheMeantimeIsNotWritten() {
    var unused = telling.due("b", "a", T0);
    assertThat(telling.due("a", "a", T0.plusSeconds(1))).isEmpty();

    assertThat(telling.due("b", "a", T0.plusSeconds(60))).contains(T0.plusSeconds(63));
  }
}
