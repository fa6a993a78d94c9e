package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler.OrphanTurns;
import org.junit.jupiter.api.Test;

/** A worker with many orphans. */
class OrphanTurnsTest {

  private final OrphanTurns turns = new OrphanTurns();

  private static Key key(int number) {
    return new Key("n", "w" + number);
  }

  @Test
  void aFewOrphansOfAWorkerAreWithdrawnAtATimeAndOtherWorkersDoNotWait() {
    for (int i = 0; i < OrphanTurns.AT_A_TIME; i++) {
      assertThat(turns.begin("slow", key(i))).isTrue();
    }
    assertThat(turns.begin("slow", key(100))).isFalse();
    assertThat(turns.begin("slow", key(101))).isFalse();
    assertThat(turns.begin("slow", key(100))).isFalse();
    assertThat(turns.begin("other", key(100))).isTrue();

    assertThat(turns.end("slow")).containsExactly(key(100));
    assertThat(turns.begin("slow", key(100))).isTrue();
    assertThat(turns.end("slow")).containsExactly(key(101));
    assertThat(turns.end("other")).isEmpty();
  }
}
