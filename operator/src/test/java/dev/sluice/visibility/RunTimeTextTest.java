package dev.sluice.visibility;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.forecast.feed.RunTimeEstimator.WorkloadRunTime;
import dev.sluice.forecast.runtimes.FinishedRun;
import dev.sluice.forecast.runtimes.FinishedRun.End;
import dev.sluice.forecast.runtimes.RunTimeEstimate;
import dev.sluice.forecast.runtimes.RunTimeGroup;
import dev.sluice.forecast.runtimes.RunTimeGroup.Level;
import dev.sluice.forecast.runtimes.RunTimeHistory;
import dev.sluice.forecast.runtimes.RunTimeHistory.Learned;
import dev.sluice.forecast.runtimes.RunTimeHistory.RunTimeOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunTimeTextTest {

  private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");

  private static Optional<Learned> learned(int failures) {
    RunTimeHistory history = new RunTimeHistory(RunTimeOptions.DEFAULT);
    List<RunTimeGroup> groups = List.of(new RunTimeGroup(Level.TEMPLATE, "team/gpu/hash"));
    for (int i = 0; i < 12; i++) {
      history.add(groups, new FinishedRun(NOW, Duration.ofMinutes(34 + i), End.SUCCEEDED));
    }
    for (int i = 0; i < failures; i++) {
      history.add(groups, new FinishedRun(NOW, Duration.ofMinutes(39), End.FAILED));
    }
    return history.learned(groups, NOW);
  }

  private static String line(
      Optional<Duration> declared,
      Optional<Learned> learned,
      Optional<Duration> limit,
      Optional<Duration> age) {
    return RunTimeText.line(
        new WorkloadRunTime(RunTimeEstimate.of(declared, learned, limit), Optional.empty(), age));
  }

  @Test
  void whatWasLearnedIsShownWithItsRange() {
    assertThat(line(Optional.empty(), learned(0), Optional.empty(), Optional.empty()))
        .isEqualTo(
            "runs about 40m (34m to 45m), learned from 12 runs of the same pod templates in its"
                + " LocalQueue");
    assertThat(
            line(Optional.empty(), learned(4), Optional.of(Duration.ofHours(2)), Optional.empty()))
        .endsWith(
            "learned from 16 runs of the same pod templates in its LocalQueue, of which 25%"
                + " failed, at most 2h");
  }

  @Test
  void whatIsDeclaredNamesWhoDeclaresIt() {
    assertThat(
            line(
                Optional.of(Duration.ofMinutes(90)),
                Optional.empty(),
                Optional.empty(),
                Optional.of(Duration.ofMinutes(50))))
        .isEqualTo(
            "runs about 1h30m, declared by its owner; it has run for 50m, about 40m are left");
    assertThat(
            RunTimeText.line(
                new WorkloadRunTime(
                    RunTimeEstimate.of(
                        Optional.of(Duration.ofHours(8)), Optional.empty(), Optional.empty()),
                    Optional.of("LocalQueue team/gpu"),
                    Optional.empty())))
        .isEqualTo("runs about 8h, declared by LocalQueue team/gpu");
  }

  @Test
  void aLimitAloneSaysNoMore() {
    assertThat(
            line(
                Optional.empty(),
                Optional.empty(),
                Optional.of(Duration.ofHours(2)),
                Optional.of(Duration.ofMinutes(3))))
        .isEqualTo("how long it runs is not known, at most 2h; it has run for 3m");
    assertThat(line(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty()))
        .isEqualTo(
            "how long it runs is unknown: nothing is declared, and too few runs like it have"
                + " ended");
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0s",
    "400, 0s",
    "59499, 59s",
    "125000, 2m5s",
    "599000, 9m59s",
    "629000, 10m",
    "3629000, 1h",
    "5430000, 1h31m",
    "360000000, 100h",
    "361900000, 101h"
  })
  void durationsAreRounded(long millis, String text) {
    assertThat(RunTimeText.text(Duration.ofMillis(millis))).isEqualTo(text);
  }
}
