package dev.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.model.LocalQueueId;
import dev.sluice.model.WorkloadId;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class TimersTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final Timers timers = new Timers();

  private static WorkloadEntry entry(String name) {
    return new WorkloadEntry(
        new WorkloadId("uid-" + name, "ns", name),
        new LocalQueueState(new LocalQueueId("ns", "queue")));
  }

  @Test
  void thoseWhoseTimeHasComeAreDueOnceInOrderOfTimeAndThenOfUid() {
    WorkloadEntry late = entry("late");
    WorkloadEntry b = entry("b");
    WorkloadEntry a = entry("a");
    timers.set(START.plusSeconds(2), late);
    timers.set(START.plusSeconds(1), b);
    timers.set(START.plusSeconds(1), a);
    assertThat(timers.due(START)).isEmpty();
    assertThat(timers.due(START.plusSeconds(1))).containsExactly(a, b);
    assertThat(timers.due(START.plusSeconds(9))).containsExactly(late);
    assertThat(timers.due(START.plusSeconds(9))).isEmpty();
  }

  @Test
  void oneThatMovedOnSinceIsLetPass() {
    WorkloadEntry entry = entry("w");
    timers.set(START, entry);
    entry.version = 2;
    assertThat(timers.due(START)).isEmpty();

    timers.set(START, entry);
    assertThat(timers.due(START)).containsExactly(entry);
  }
}
