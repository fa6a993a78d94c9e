package dev.sluice.forecast.runtimes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.sluice.forecast.runtimes.RunTimeDistribution.Observation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RunTimeDistributionTest {

  private static RunTimeDistribution ofSeconds(double... seconds) {
    return RunTimeDistribution.of(
        DoubleStream.of(seconds).mapToObj(each -> new Observation(each * 1_000, 1, true)).toList());
  }

  @Test
  void eachOfNTimesStandsForItsShareOfNPlusOne() {
    RunTimeDistribution distribution = ofSeconds(40, 10, 30, 20);

    assertThat(distribution.quantile(0.2)).isEqualTo(Duration.ofSeconds(10));
    assertThat(distribution.quantile(0.4)).isEqualTo(Duration.ofSeconds(20));
    assertThat(distribution.quantile(0.5)).isEqualTo(Duration.ofSeconds(25));
    assertThat(distribution.quantile(0.8)).isEqualTo(Duration.ofSeconds(40));
    assertThat(distribution.probabilityWithin(Duration.ofSeconds(30))).isCloseTo(0.6, within(1e-9));
  }

  @Test
  void endsAreAsManyTimesFromTheOutermostAsThoseFromTheMedian() {
    RunTimeDistribution distribution = ofSeconds(9, 19, 39);

    assertThat(distribution.quantile(1)).isEqualTo(Duration.ofSeconds(78));
    assertThat(distribution.quantile(0)).isEqualTo(Duration.ofMillis(4_500));
  }

  @Test
  void equalTimesLeaveNoDoubt() {
    RunTimeDistribution distribution = ofSeconds(60, 60, 60, 60, 60);

    assertThat(distribution.quantile(0.1)).isEqualTo(Duration.ofSeconds(60));
    assertThat(distribution.quantile(0.9)).isEqualTo(Duration.ofSeconds(60));
  }

  /** Of those that last beyond the censored one's time, its share is distributed. */
  @Test
  void censoredRunsSayAtLeast() {
    RunTimeDistribution distribution =
        RunTimeDistribution.of(
            List.of(
                new Observation(10_000, 1, true),
                new Observation(15_000, 1, false),
                new Observation(20_000, 1, true),
                new Observation(30_000, 1, true)));

    // survival 3/4 after 10 s, 3/4 * 1/2 after 20 s, 0 after 30 s; three that ended: times 3/4
    assertThat(distribution.probabilityWithin(Duration.ofSeconds(10)))
        .isCloseTo(0.25 * 0.75, within(1e-9));
    assertThat(distribution.probabilityWithin(Duration.ofSeconds(20)))
        .isCloseTo((1 - 0.375) * 0.75, within(1e-9));
    assertThat(distribution.probabilityWithin(Duration.ofSeconds(30)))
        .isCloseTo(0.75, within(1e-9));
  }

  @Test
  void weightsCount() {
    RunTimeDistribution distribution =
        RunTimeDistribution.of(
            List.of(new Observation(10_000, 9, true), new Observation(20_000, 1, true)));

    double effective = 100.0 / 82;
    assertThat(distribution.probabilityWithin(Duration.ofSeconds(10)))
        .isCloseTo(0.9 * effective / (effective + 1), within(1e-9));
  }

  @Test
  void whatHasLastedForAWhileLastsLongerThanThat() {
    RunTimeDistribution distribution = ofSeconds(10, 20, 30, 40);

    assertThat(distribution.quantileBeyond(Duration.ofSeconds(20), 0.5).orElseThrow())
        .isCloseTo(distribution.quantile(0.7).toMillis(), within(1.0));
    assertThat(distribution.quantileBeyond(Duration.ofSeconds(80), 0.5)).isEmpty();
  }

  @Test
  void nothingLastsLongerThanTheLimit() {
    RunTimeDistribution distribution = ofSeconds(10, 20, 30, 40).atMost(Duration.ofSeconds(25));

    assertThat(distribution.quantile(0.2)).isEqualTo(Duration.ofSeconds(10));
    assertThat(distribution.quantile(0.5)).isEqualTo(Duration.ofSeconds(25));
    assertThat(distribution.quantile(0.9)).isEqualTo(Duration.ofSeconds(25));
    assertThat(ofSeconds(10, 20).atMost(Duration.ofSeconds(1)).quantile(0.1))
        .isEqualTo(Duration.ofSeconds(1));
  }

  private static double meanOfDraws(RunTimeDistribution distribution, Duration age) {
    return IntStream.range(0, 1_000)
        .mapToDouble(i -> distribution.drawnBeyond(age, (i + 0.5) / 1_000).orElseThrow())
        .average()
        .orElseThrow();
  }

  /** The quantiles of few uneven runs reach far beyond them; sums of draws don't. */
  @Test
  void drawsHaveTheMeanOfTheRuns() {
    RunTimeDistribution distribution = ofSeconds(10, 20, 30, 40, 900);

    assertThat(meanOfDraws(distribution, Duration.ZERO)).isCloseTo(200_000, within(1.0));
    assertThat(meanOfDraws(distribution, Duration.ofSeconds(25)))
        .isCloseTo((30_000 + 40_000 + 900_000) / 3.0, within(1_000.0));
    assertThat(distribution.drawnBeyond(Duration.ofSeconds(900), 0.5)).isEmpty();
    assertThat(meanOfDraws(distribution.atMost(Duration.ofSeconds(100)), Duration.ZERO))
        .isCloseTo(40_000, within(1.0));
    assertThat(meanOfDraws(distribution.atMost(Duration.ofSeconds(5)), Duration.ZERO))
        .isEqualTo(5_000);
    assertThat(RunTimeDistribution.exactly(Duration.ofSeconds(7)).drawnBeyond(Duration.ZERO, 0.1))
        .hasValue(7_000);
  }

  /** The runs that ended count for the one that was stopped; the longest may have gone on. */
  @Test
  void drawsOfCensoredRunsAreRunsThatEnded() {
    RunTimeDistribution stoppedBetween =
        RunTimeDistribution.of(
            List.of(
                new Observation(10_000, 1, true),
                new Observation(15_000, 1, false),
                new Observation(20_000, 1, true),
                new Observation(30_000, 1, true)));
    RunTimeDistribution stoppedLast =
        RunTimeDistribution.of(
            List.of(new Observation(10_000, 1, true), new Observation(30_000, 1, false)));

    assertThat(meanOfDraws(stoppedBetween, Duration.ZERO))
        .isCloseTo(10_000 / 4.0 + (20_000 + 30_000) * 3 / 8.0, within(1.0));
    assertThat(stoppedLast.drawnBeyond(Duration.ZERO, 0.4)).hasValue(10_000);
    assertThat(stoppedLast.drawnBeyond(Duration.ZERO, 0.6).orElseThrow()).isGreaterThan(10_000);
  }

  @Test
  void withoutARunThatEndedThereIsNone() {
    assertThatThrownBy(() -> RunTimeDistribution.of(List.of(new Observation(10_000, 1, false))))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void quantilesDontDecreaseAndTheProbabilityIsTheirInverse() {
    for (int seed = 0; seed < 2_000; seed++) {
      Random random = new Random(seed);
      List<Observation> observations = new ArrayList<>();
      observations.add(new Observation(1 + random.nextInt(50), 1, true));
      for (int i = random.nextInt(30); i > 0; i--) {
        observations.add(
            new Observation(
                random.nextInt(1_000_000), 0.01 + random.nextDouble(), random.nextInt(4) > 0));
      }
      RunTimeDistribution distribution = RunTimeDistribution.of(observations);
      if (random.nextBoolean()) {
        distribution = distribution.atMost(Duration.ofMillis(random.nextInt(1_000_000)));
      }
      Duration before = Duration.ZERO;
      for (double p = 0; p <= 1; p += 0.01) {
        Duration at = distribution.quantile(p);
        assertThat(at).as("seed %s", seed).isGreaterThanOrEqualTo(before);
        assertThat(distribution.probabilityWithin(at.plusMillis(1)))
            .as("seed %s p %s", seed, p)
            .isGreaterThanOrEqualTo(p - 1e-9);
        before = at;
      }
    }
  }

  /** The next run is within the range of 80 % four times of five, also after few runs. */
  @Test
  void rangesHoldForTheNextRun() {
    for (int count : new int[] {5, 10, 40}) {
      Random random = new Random(count);
      int inside = 0;
      int trials = 10_000;
      for (int trial = 0; trial < trials; trial++) {
        double[] seconds = new double[count];
        for (int i = 0; i < count; i++) {
          seconds[i] = 600 * Math.exp(random.nextGaussian());
        }
        RunTimeDistribution distribution = ofSeconds(seconds);
        Duration next = Duration.ofMillis((long) (600_000 * Math.exp(random.nextGaussian())));
        if (next.compareTo(distribution.quantile(0.1)) >= 0
            && next.compareTo(distribution.quantile(0.9)) <= 0) {
          inside++;
        }
      }
      assertThat((double) inside / trials).as("%s runs", count).isCloseTo(0.8, within(0.03));
    }
  }
}
