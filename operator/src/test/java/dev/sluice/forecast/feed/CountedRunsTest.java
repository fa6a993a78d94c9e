package dev.sluice.forecast.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.feed.RunTimeRecorder.CountedRuns;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class CountedRunsTest {

  private static final Instant START = Instant.parse("2026-03-01T10:00:00Z");

  private static WorkloadId id(int number) {
    return new WorkloadId("uid-" + number, "team", "w" + number);
  }

  @Test
  void aRunCountsOnceAndEachRunOfAWorkloadCounts() {
    CountedRuns counted = new CountedRuns();
    assertThat(counted.add(id(1), START)).isTrue();
    assertThat(counted.add(id(1), START)).isFalse();
    assertThat(counted.add(id(1), START.plusSeconds(1))).isTrue();
    assertThat(counted.add(id(2), START)).isTrue();
  }

  @Test
  void oldRunsAreForgottenAndCountAsCounted() {
    CountedRuns counted = new CountedRuns();
    counted.add(id(1), START);
    counted.add(id(2), START.plusSeconds(60));
    counted.add(id(3), START.plus(CountedRuns.MARGIN).plusSeconds(30));

    assertThat(counted.saved().later()).hasSize(2);
    CountedRuns again = new CountedRuns(counted.saved());
    assertThat(again.isPast(START)).isTrue();
    assertThat(again.isPast(START.plusSeconds(60))).isFalse();
    assertThat(again.add(id(2), START.plusSeconds(60))).isFalse();
    assertThat(again.add(id(4), START.plusSeconds(60))).as("told late").isTrue();
  }

  @Test
  void soManyAreRememberedAtMost() {
    CountedRuns counted = new CountedRuns();
    for (int i = 0; i < CountedRuns.MOST + 100; i++) {
      counted.add(id(i), START.plusMillis(i));
    }
    assertThat(counted.saved().later()).hasSize(CountedRuns.MOST);
    assertThat(counted.isPast(START.plusMillis(99))).isTrue();
    assertThat(counted.isPast(START.plusMillis(100))).isFalse();
  }
}
