package dev.sluice.core.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.Instants;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** docs/preemption.md#preemption-that-goes-on-for-ever. */
class RepeatedPreemptionsTest {

  private static final Instant START = Instant.parse("2026-03-01T10:00:00Z");

  private final RepeatedPreemptions repeatedPreemptions =
      new RepeatedPreemptions(new PreemptionLimit(3, Duration.ofHours(1)));

  private void preempts(String preemptor, String target, int minute) {
    repeatedPreemptions.add(preemptor, target, "queue", START.plus(Duration.ofMinutes(minute)));
  }

  @Test
  void twoOfThreeComeFirstAndThreeAreTheLast() {
    preempts("a", "x", 0);
    preempts("a", "y", 1);
    assertThat(repeatedPreemptions.comesFirst("a")).isFalse();
    preempts("a", "x", 2);
    assertThat(repeatedPreemptions.comesFirst("a")).isTrue();
    assertThat(repeatedPreemptions.sparedBy("a")).isEmpty();
    preempts("a", "x", 3);
    assertThat(repeatedPreemptions.sparedBy("a"))
        .containsOnlyKeys("x")
        .containsValue(Instants.micros(START.plus(Duration.ofHours(1))));
    assertThat(repeatedPreemptions.comesFirst("b")).isFalse();
  }

  @Test
  void anHourLaterTheyAreForgottenOneByOne() {
    for (int minute = 0; minute < 3; minute++) {
      preempts("a", "x", minute);
    }
    assertThat(repeatedPreemptions.expire(START.plus(Duration.ofMinutes(59)))).isEmpty();
    assertThat(repeatedPreemptions.expire(START.plus(Duration.ofMinutes(60))))
        .containsExactly("queue");
    assertThat(repeatedPreemptions.sparedBy("a")).isEmpty();
    assertThat(repeatedPreemptions.comesFirst("a")).isTrue();
    assertThat(repeatedPreemptions.expire(START.plus(Duration.ofMinutes(61))))
        .containsExactly("queue");
    assertThat(repeatedPreemptions.comesFirst("a")).isFalse();
    assertThat(repeatedPreemptions.expire(START.plus(Duration.ofMinutes(62)))).isEmpty();
    assertThat(repeatedPreemptions.export()).isEmpty();
  }

  @Test
  void aRefusedEvictionNeverWas() {
    preempts("a", "x", 0);
    preempts("b", "x", 1);
    assertThat(repeatedPreemptions.refused("x").orElseThrow().preemptor()).isEqualTo("b");
    assertThat(repeatedPreemptions.refused("x").orElseThrow().preemptor()).isEqualTo("a");
    assertThat(repeatedPreemptions.refused("x")).isEmpty();
    assertThat(repeatedPreemptions.export()).isEmpty();
  }

  @Test
  void whoIsGoneIsForgotten() {
    preempts("a", "x", 0);
    preempts("b", "x", 0);
    repeatedPreemptions.forget("a");
    assertThat(repeatedPreemptions.export())
        .singleElement()
        .satisfies(preemption -> assertThat(preemption.preemptor()).isEqualTo("b"));
  }

  @Test
  void memoryIsBounded() {
    for (int i = 0; i < 3; i++) {
      preempts("first", "x", 0);
    }
    for (int i = 0; i < 9_998; i++) {
      preempts("p" + i, "x", 1);
    }
    assertThat(repeatedPreemptions.export()).hasSize(10_000);
    assertThat(repeatedPreemptions.sparedBy("first")).isEmpty();
    assertThat(repeatedPreemptions.comesFirst("first")).isTrue();
  }

  @Test
  void onlyPreemptionsInVainPutAPreemptorFirst() {
    preempts("a", "x", 0);
    preempts("a", "x", 1);
    repeatedPreemptions.hasQuota("a");
    assertThat(repeatedPreemptions.comesFirst("a")).isFalse();
    preempts("a", "x", 2);
    assertThat(repeatedPreemptions.comesFirst("a")).isFalse();
    assertThat(repeatedPreemptions.sparedBy("a")).containsOnlyKeys("x");
    RepeatedPreemptions restored =
        new RepeatedPreemptions(new PreemptionLimit(3, Duration.ofHours(1)));
    restored.restore(repeatedPreemptions.export());
    assertThat(restored.comesFirst("a")).isFalse();
    preempts("a", "y", 3);
    preempts("a", "y", 4);
    assertThat(repeatedPreemptions.comesFirst("a")).isTrue();
  }
}
