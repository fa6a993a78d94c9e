package dev.sluice.api.queueing;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** docs/workload-lifecycle.md#time-outs-of-a-single-workload. */
class PodsReadyTimeoutsTest {

  /** Changes of 0.20, section 4: WorkloadLevelWaitForPodsReady. */
  @Test
  void eitherTimeMayBeSaid() {
    assertThat(PodsReadyTimeouts.parse("{\"timeoutSeconds\": 90, \"recoveryTimeoutSeconds\": 0}"))
        .contains(
            new PodsReadyTimeouts(Optional.of(Duration.ofSeconds(90)), Optional.of(Duration.ZERO)));
    assertThat(PodsReadyTimeouts.parse("{\"recoveryTimeoutSeconds\": 5}"))
        .contains(new PodsReadyTimeouts(Optional.empty(), Optional.of(Duration.ofSeconds(5))));
    assertThat(PodsReadyTimeouts.parse("{}"))
        .contains(new PodsReadyTimeouts(Optional.empty(), Optional.empty()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "5m",
        "null",
        "[]",
        "{",
        "{\"timeoutSeconds\": 0}",
        "{\"timeoutSeconds\": \"90\"}",
        "{\"timeoutSeconds\": 1.5}",
        "{\"timeoutSeconds\": 99999999999}",
        "{\"recoveryTimeoutSeconds\": -1}",
        "{\"timeout\": 90}"
      })
  void nothingElseIsAllowed(String text) {
    assertThat(PodsReadyTimeouts.parse(text)).isEmpty();
  }
}
