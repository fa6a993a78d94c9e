package dev.sluice.api.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GoDurationTest {

  @ParameterizedTest
  @CsvSource({
    "1h30m, PT1H30M",
    "500ms, PT0.5S",
    "1.5s, PT1.5S",
    "0s, PT0S",
    "0, PT0S",
    ".5s, PT0.5S",
    "1.s, PT1S",
    "-3m, PT-3M",
    "+5s, PT5S",
    "2us, PT0.000002S",
    "2µs, PT0.000002S",
    "7ns, PT0.000000007S",
    "1.9ns, PT0.000000001S",
    "30m30m, PT1H",
    "0.1h, PT6M",
    "2562047h47m16.854775807s, PT2562047H47M16.854775807S"
  })
  void readsWhatGoReads(String text, Duration expected) {
    assertThat(GoDuration.parse(text)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "5|\"5\" has no unit",
        "1.5|\"1.5\" has no unit",
        "1h30|\"1h30\" ends without a unit",
        "''|\"\" is not a duration",
        "abc|\"abc\" is not a duration",
        "1 h|\"1 h\" has the unknown unit \" h\"",
        "3d|\"3d\" has the unknown unit \"d\"",
        "1H|\"1H\" has the unknown unit \"H\"",
        "--1s|\"--1s\" is not a duration",
        "1..5s|\"1..5s\" is not a duration",
        "s|\"s\" is not a duration",
        "2562048h|\"2562048h\" is longer than 2562047h47m16.854775807s"
      })
  void refusesTheRestByName(String text, String message) {
    assertThatThrownBy(() -> GoDuration.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message + "; allowed: a duration");
  }

  @ParameterizedTest
  @CsvSource({"PT1H30M, 1h30m", "PT0.5S, 500ms", "PT0S, 0s", "PT1.5S, 1.5s", "PT-15M, -15m"})
  void writesTheShortForm(Duration duration, String expected) {
    assertThat(GoDuration.format(duration)).isEqualTo(expected);
  }

  @Test
  void readsBackWhateverItWrites() {
    Random random = new Random(7);
    for (int i = 0; i < 2_000; i++) {
      Duration duration = Duration.ofNanos(random.nextLong() >> random.nextInt(62));

      assertThat(GoDuration.parse(GoDuration.format(duration))).isEqualTo(duration);
    }
  }
}
