package dev.sluice.forecast.runtimes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.forecast.runtimes.FinishedRun.End;
import dev.sluice.forecast.runtimes.RunTimeEstimate.Basis;
import dev.sluice.forecast.runtimes.RunTimeGroup.Level;
import dev.sluice.forecast.runtimes.RunTimeHistory.Learned;
import dev.sluice.forecast.runtimes.RunTimeHistory.RunTimeOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RunTimeEstimateTest {

  private static final Optional<Duration> HOUR = Optional.of(Duration.ofHours(1));

  private static Optional<Learned> learned(long... minutes) {
    RunTimeHistory history = new RunTimeHistory(RunTimeOptions.DEFAULT);
    List<RunTimeGroup> group = List.of(new RunTimeGroup(Level.NAME, "a"));
    Instant now = Instant.EPOCH;
    for (long each : minutes) {
      history.add(group, new FinishedRun(now, Duration.ofMinutes(each), End.SUCCEEDED));
    }
    return history.learned(group, now);
  }

  @Test
  void ownersWordComesFirstThenExperienceThenTheLimit() {
    assertThat(RunTimeEstimate.of(HOUR, learned(1, 2, 3, 4, 5), HOUR).basis())
        .isEqualTo(Basis.DECLARED);
    assertThat(RunTimeEstimate.of(Optional.empty(), learned(1, 2, 3, 4, 5), HOUR).basis())
        .isEqualTo(Basis.LEARNED);
    assertThat(RunTimeEstimate.of(Optional.empty(), Optional.empty(), HOUR).basis())
        .isEqualTo(Basis.LIMIT);
    assertThat(RunTimeEstimate.of(Optional.empty(), Optional.empty(), Optional.empty()).basis())
        .isEqualTo(Basis.UNKNOWN);
  }

  @Test
  void limitCutsWhatTheOthersSay() {
    assertThat(
            RunTimeEstimate.of(Optional.of(Duration.ofHours(3)), Optional.empty(), HOUR)
                .remaining(Duration.ZERO, 0.5))
        .contains(Duration.ofHours(1));
    assertThat(
            RunTimeEstimate.of(Optional.empty(), learned(50, 55, 60, 90, 120), HOUR)
                .remaining(Duration.ZERO, 0.99))
        .contains(Duration.ofHours(1));
  }

  @Test
  void runThatOutlivesItsEstimateGetsTheLimitElseItsAgeAgain() {
    Optional<Duration> declared = Optional.of(Duration.ofMinutes(10));

    assertThat(
            RunTimeEstimate.of(declared, Optional.empty(), HOUR)
                .remaining(Duration.ofMinutes(20), 0.5))
        .contains(Duration.ofMinutes(40));
    assertThat(
            RunTimeEstimate.of(declared, Optional.empty(), Optional.empty())
                .remaining(Duration.ofMinutes(20), 0.5))
        .contains(Duration.ofMinutes(20));
    assertThat(
            RunTimeEstimate.of(declared, Optional.empty(), HOUR)
                .remaining(Duration.ofMinutes(70), 0.5))
        .contains(Duration.ZERO);
  }

  /** A play draws runs that were seen; what outlives them all is drawn from what is beyond. */
  @Test
  void drawsAreRunsThatWereSeen() {
    RunTimeEstimate estimate =
        RunTimeEstimate.of(Optional.empty(), learned(10, 20, 30, 40, 50), Optional.empty());

    assertThat(estimate.drawn(Duration.ZERO, 0.5)).contains(Duration.ofMinutes(30));
    assertThat(estimate.drawn(Duration.ZERO, 0.99)).contains(Duration.ofMinutes(50));
    assertThat(estimate.drawn(Duration.ofMinutes(35), 0.1)).contains(Duration.ofMinutes(5));
    assertThat(estimate.drawn(Duration.ofMinutes(55), 0.5))
        .isEqualTo(estimate.remaining(Duration.ofMinutes(55), 0.5))
        .isPresent();
    assertThat(
            RunTimeEstimate.of(Optional.empty(), learned(10, 20, 30, 40, 50), HOUR)
                .drawn(Duration.ofMinutes(90), 0.5))
        .contains(Duration.ZERO);
  }

  @Test
  void limitAloneIsABound() {
    RunTimeEstimate estimate = RunTimeEstimate.of(Optional.empty(), Optional.empty(), HOUR);

    assertThat(estimate.distribution()).isEmpty();
    assertThat(estimate.remaining(Duration.ofMinutes(10), 0.1)).contains(Duration.ofMinutes(50));
  }

  @Test
  void nothingIsSaidOfWhatIsUnknown() {
    RunTimeEstimate estimate =
        RunTimeEstimate.of(Optional.empty(), Optional.empty(), Optional.empty());

    assertThat(estimate.remaining(Duration.ofMinutes(10), 0.5)).isEmpty();
  }
}
