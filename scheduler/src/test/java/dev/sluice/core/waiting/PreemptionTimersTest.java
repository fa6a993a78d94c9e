package dev.sluice.core.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.Instants;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class PreemptionTimersTest {

  private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");

  private final PreemptionTimers timers = new PreemptionTimers();

  private void set(String uid, boolean exempt, String clusterQueue, int second) {
    timers.set(uid, exempt, clusterQueue, Instants.micros(NOW.plusSeconds(second)), NOW);
  }

  @Test
  void onlyQueuesWithATimerAreLookedAt() {
    set("a", false, "one", 10);
    set("a", true, "one", 20);
    set("b", false, "two", 30);
    set("c", false, "none", 0);
    assertThat(timers.clusterQueues()).containsExactlyInAnyOrder("one", "two");

    assertThat(timers.due(NOW.plusSeconds(10))).containsExactly("one");
    assertThat(timers.clusterQueues()).containsExactlyInAnyOrder("one", "two");

    set("b", false, "three", 40);
    assertThat(timers.clusterQueues()).containsExactlyInAnyOrder("one", "three");

    assertThat(timers.due(NOW.plusSeconds(40))).containsExactly("one", "three");
    assertThat(timers.clusterQueues()).isEmpty();
  }
}
