package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.WorkloadId;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class BackoffTimersTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final BackoffTimers backoffTimers = new BackoffTimers();

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
    backoffTimers.set(START.plusSeconds(2), late);
    backoffTimers.set(START.plusSeconds(1), b);
    backoffTimers.set(START.plusSeconds(1), a);
    assertThat(backoffTimers.due(START)).isEmpty();
    assertThat(backoffTimers.due(START.plusSeconds(1))).containsExactly(a, b);
    assertThat(backoffTimers.due(START.plusSeconds(9))).containsExactly(late);
    assertThat(backoffTimers.due(START.plusSeconds(9))).isEmpty();
  }

  @Test
  void oneThatMovedOnSinceIsLetPass() {
    WorkloadEntry entry = entry("w");
    backoffTimers.set(START, entry);
    entry.version = 2;
    assertThat(backoffTimers.due(START)).isEmpty();

    backoffTimers.set(START, entry);
    assertThat(backoffTimers.due(START)).containsExactly(entry);
  }
}
