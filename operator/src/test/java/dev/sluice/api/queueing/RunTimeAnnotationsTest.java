package dev.sluice.api.queueing;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RunTimeAnnotationsTest {

  @ParameterizedTest
  @CsvSource({
    "90m, PT1H30M",
    "1h30m, PT1H30M",
    "1.5s, PT1.5S",
    "1ns, PT0.000000001S",
    "87600h, PT87600H"
  })
  void durationsOfGoAreRead(String text, Duration expected) {
    assertThat(RunTimeAnnotations.expected(Map.of(RunTimeAnnotations.EXPECTED, text)))
        .contains(expected);
    assertThat(RunTimeAnnotations.expectedText(Map.of(RunTimeAnnotations.EXPECTED, text)))
        .contains(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "90",
        "0s",
        "-1h",
        "87600h1ns",
        "soon",
        "P1D",
        "1h 30m",
        "0000000000000000000000000000000000000001h"
      })
  void everythingElseCountsAsAbsent(String text) {
    assertThat(RunTimeAnnotations.expected(Map.of(RunTimeAnnotations.EXPECTED, text))).isEmpty();
    assertThat(RunTimeAnnotations.expectedText(Map.of(RunTimeAnnotations.EXPECTED, text)))
        .isEmpty();
  }

  @Test
  void aLimitHasWholeSeconds() {
    assertThat(RunTimeAnnotations.maxOf(Map.of(RunTimeAnnotations.MAX, "1.9s")))
        .contains(Duration.ofSeconds(1));
    assertThat(RunTimeAnnotations.maxOf(Map.of(RunTimeAnnotations.MAX, "900ms"))).isEmpty();
    assertThat(RunTimeAnnotations.maxOf(null)).isEmpty();
    assertThat(RunTimeAnnotations.defaultOf(Map.of(RunTimeAnnotations.DEFAULT, "900ms")))
        .contains(Duration.ofMillis(900));
  }
}
