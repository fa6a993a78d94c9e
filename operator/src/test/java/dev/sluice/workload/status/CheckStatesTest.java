package dev.sluice.workload.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.workload.record.CachedWorkload.CheckState;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is written of admission checks. */
class CheckStatesTest {

  /** The message of a worker's Workload may have the greatest length itself. */
  @Test
  void aMessageIsAsLongAsTheApiLetsItBe() {
    CheckState check =
        new CheckState(
            "check",
            CheckState.RETRY,
            "worker a: " + "x".repeat(32768),
            Instant.EPOCH,
            -1,
            -1,
            List.of());
    assertThat(CheckStates.json(List.of(check)).at("/0/message").textValue())
        .hasSize(32768)
        .startsWith("worker a: x");
  }
}
