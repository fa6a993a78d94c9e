package dev.sluice.forecast.starts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.forecast.starts.StartEstimate.StartRange;
import java.time.Instant;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class StartCalibrationTest {

  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  private final StartCalibration calibration = new StartCalibration();

  private static StartRange range(long earliest, long expected, long latest) {
    return new StartRange(
        NOW.plusSeconds(earliest), NOW.plusSeconds(expected), Optional.of(NOW.plusSeconds(latest)));
  }

  /** Ranges that are far too narrow hold for four of five starts soon. */
  @Test
  void coverageComesToItsAim() {
    Random random = new Random(5);
    int inside = 0;
    int judged = 0;
    for (int i = 0; i < 2_000; i++) {
      long expected = 600 + random.nextInt(6_000);
      StartRange played = range(expected - 10, expected, expected + 10);
      Instant start =
          NOW.plusMillis((long) (expected * 1_000 * Math.exp(random.nextGaussian() / 2)));
      if (i >= 200) {
        judged++;
        if (calibration.corrected("cq", played, NOW).contains(start)) {
          inside++;
        }
      }
      calibration.started("cq", played, NOW, start);
    }

    assertThat((double) inside / judged).isBetween(0.77, 0.85);
  }

  /** Ranges that are far too wide become narrower. */
  @Test
  void wideRangesBecomeNarrower() {
    for (int i = 0; i < 100; i++) {
      calibration.started("cq", range(0, 1_000, 9_000), NOW, NOW.plusSeconds(1_000 + i));
    }

    StartRange corrected = calibration.corrected("cq", range(0, 1_000, 9_000), NOW);

    assertThat(corrected.latest().orElseThrow()).isBefore(NOW.plusSeconds(8_500));
    assertThat(corrected.earliest()).isAfter(NOW);
    assertThat(corrected.expected()).isEqualTo(NOW.plusSeconds(1_000));
  }

  /** Waits that vary by a factor have ranges that grow with them, further to the later side. */
  @Test
  void endsMoveByFactorsOfTheirOwn() {
    for (int i = 1; i <= 99; i++) {
      StartRange played = range(600, 1_200, 2_400);
      calibration.started("cq", played, NOW, NOW.plusSeconds(600 + 60L * i));
    }

    StartRange corrected = calibration.corrected("cq", range(600, 1_200, 2_400), NOW);

    assertThat(corrected.earliest()).isEqualTo(NOW.plusSeconds(600 + 60 * 10));
    assertThat(corrected.latest()).contains(NOW.plusSeconds(600 + 60 * 90));
    // a minute is added to each wait: 1,260 s for 660 s, and 6,060 s for 2,460 s
    StartRange longer = calibration.corrected("cq", range(6_000, 12_000, 24_000), NOW);
    assertThat(longer.earliest())
        .isEqualTo(NOW.plusMillis(Math.round(6_060_000.0 * 1_260 / 660) - 60_000));
    assertThat(longer.latest())
        .contains(NOW.plusMillis(Math.round(24_060_000.0 * 6_060 / 2_460) - 60_000));
  }

  /** A range without an end says nothing of how late starts are. */
  @Test
  void rangeWithoutEndKeepsNone() {
    StartRange endless = new StartRange(NOW, NOW.plusSeconds(60), Optional.empty());
    for (int i = 0; i < 30; i++) {
      calibration.started("cq", endless, NOW, NOW.plusSeconds(6_000));
    }

    assertThat(calibration.corrected("cq", endless, NOW).latest()).isEmpty();
    assertThat(calibration.corrected("cq", range(60, 120, 180), NOW).latest())
        .contains(NOW.plusSeconds(180));
  }

  @Test
  void withoutEnoughStartsNothingIsCorrected() {
    calibration.started("cq", range(10, 20, 30), NOW, NOW.plusSeconds(500));

    assertThat(calibration.corrected("cq", range(10, 20, 30), NOW)).isEqualTo(range(10, 20, 30));
    assertThat(calibration.corrected("other", range(1, 2, 3), NOW)).isEqualTo(range(1, 2, 3));
  }

  @Test
  void nothingIsExpectedBeforeNow() {
    for (int i = 0; i < 30; i++) {
      calibration.started("cq", range(100, 200, 300), NOW, NOW);
    }

    assertThat(calibration.corrected("cq", range(100, 200, 300), NOW).earliest()).isEqualTo(NOW);
  }
}
