package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.assertj.core.api.Assertions.within;

import dev.sluice.core.model.AdmissionFairSharing;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Past use of a LocalQueue, computed by hand from
 * docs/scheduling-semantics.md#admission-fair-sharing.
 */
class DecayingUsageTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final Duration MINUTE = Duration.ofMinutes(1);

  /** Half of the average is new after ten minutes; a sample each minute. */
  private static AdmissionFairSharing rules(Map<String, Double> weights) {
    return new AdmissionFairSharing(
        MINUTE.multipliedBy(10), MINUTE, weights, AdmissionFairSharing.Anchor.ADMISSION);
  }

  private static DecayingUsage history(AdmissionFairSharing rules) {
    return new DecayingUsage(rules, Map.of(), START);
  }

  private static Instant minute(int count) {
    return START.plus(MINUTE.multipliedBy(count));
  }

  @Test
  void useIsAveragedOverTime() {
    DecayingUsage history = history(rules(Map.of()));

    history.sample(minute(10), Map.of("cpu", 8000L));
    assertThat(history.consumed().get("cpu")).isCloseTo(4, within(1e-9)); // half of 8
    history.sample(minute(20), Map.of("cpu", 8000L));
    assertThat(history.consumed().get("cpu")).isCloseTo(6, within(1e-9)); // half of 4 and of 8
    history.sample(minute(40), Map.of("cpu", 2000L));
    // a quarter of 6, three quarters of 2
    assertThat(history.consumed().get("cpu")).isCloseTo(3, within(1e-9));
    history.sample(minute(50), Map.of());
    assertThat(history.consumed().get("cpu")).isCloseTo(1.5, within(1e-9));
    assertThat(history.sampledAt()).isEqualTo(minute(50));
    assertThat(history.nextSample()).isEqualTo(minute(51));
  }

  @Test
  void manyShortSamplesOfTheSameUseAreAsOneLongOne() {
    DecayingUsage history = history(rules(Map.of()));

    for (int i = 1; i <= 10; i++) {
      history.sample(minute(i), Map.of("memory", 1024L));
    }

    assertThat(history.consumed().get("memory")).isCloseTo(512, within(1e-6));
  }

  @Test
  void whatIsUsedNoMoreIsForgottenInTheEnd() {
    DecayingUsage history = new DecayingUsage(rules(Map.of()), Map.of("cpu", 1.0), START);

    history.sample(minute(100), Map.of()); // 1/1024
    assertThat(history.consumed()).containsOnlyKeys("cpu");
    history.sample(minute(300), Map.of()); // less than a billionth
    assertThat(history.consumed()).isEmpty();
  }

  @Test
  void whoIsGivenQuotaPaysAtOnceForOneInterval() {
    DecayingUsage history = history(rules(Map.of()));
    double part = 1 - Math.pow(0.5, 0.1); // of a minute by ten: 0.067

    history.addPenalty("a", Map.of("cpu", 4000L));
    history.addPenalty("b", Map.of("cpu", 2000L));
    assertThat(history.amount(1)).isCloseTo(6 * part, within(1e-9));
    assertThat(history.consumed()).isEmpty();

    assertThat(history.convertPenalty("a")).isTrue();
    assertThat(history.consumed().get("cpu")).isCloseTo(4 * part, within(1e-9));
    assertThat(history.amount(1)).isCloseTo(6 * part, within(1e-9));

    assertThat(history.removePenalty("b")).isTrue();
    assertThat(history.amount(1)).isCloseTo(4 * part, within(1e-9));
    assertThat(history.removePenalty("a")).isFalse();
    assertThat(history.convertPenalty("a")).isFalse();
    assertThat(history.amount(1)).isCloseTo(4 * part, within(1e-9));
  }

  @Test
  void resourcesAndQueuesHaveWeights() {
    DecayingUsage history =
        new DecayingUsage(
            rules(Map.of("cpu", 2.0, "memory", 0.0)),
            Map.of("cpu", 3.0, "memory", 1e9, "gpu", 4.0),
            START);

    assertThat(history.amount(1)).isEqualTo(10); // 2 * 3 + 4
    assertThat(history.amount(0.5)).isEqualTo(20);
    assertThat(history.amount(4)).isEqualTo(2.5);
    assertThat(history.amount(0)).isInfinite();
    assertThat(history.amount(-1)).isInfinite();
    assertThat(history(rules(Map.of())).amount(0)).isInfinite();
  }

  @Test
  void withoutHalfLifeNothingIsRemembered() {
    DecayingUsage history =
        new DecayingUsage(
            new AdmissionFairSharing(
                Duration.ZERO, MINUTE, Map.of(), AdmissionFairSharing.Anchor.ADMISSION),
            Map.of("cpu", 3.0),
            START);

    history.addPenalty("a", Map.of("cpu", 4000L));
    assertThat(history.amount(1)).isEqualTo(3);
    assertThat(history.convertPenalty("a")).isFalse();

    history.sample(minute(1), Map.of("cpu", 4000L));
    assertThat(history.consumed()).isEmpty();
    assertThat(history.amount(1)).isZero();
  }

  @Test
  void aSecondEntryOfTheSameTakesThePlaceOfTheFirst() {
    DecayingUsage history =
        history(
            new AdmissionFairSharing(
                MINUTE, MINUTE, Map.of(), AdmissionFairSharing.Anchor.ADMISSION));

    history.addPenalty("a", Map.of("cpu", 4000L));
    history.addPenalty("a", Map.of("cpu", 2000L, "gpu", 1L));

    assertThat(history.amount(1)).isEqualTo(1.5); // half of 2 and of 1
    history.convertPenalty("a");
    assertThat(history.consumed()).containsExactly(entry("cpu", 1.0), entry("gpu", 0.5));
  }
}
