package dev.sluice.checks.provisioning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.checks.provisioning.ProvisioningReconciler.Attempts;
import org.junit.jupiter.api.Test;

class AttemptsTest {

  private final Attempts attempts = new Attempts();

  private static String fail(String message) {
    throw new IllegalStateException(message);
  }

  @Test
  void aFailureKeepsNothingElseFromBeingTriedAndIsThrownAtTheEnd() throws InterruptedException {
    assertThat(attempts.attempt(() -> fail("first"), "unchanged")).isEqualTo("unchanged");
    assertThat(attempts.attempt(() -> "changed", "unchanged")).isEqualTo("changed");
    assertThat(attempts.attempt(() -> fail("second"), "unchanged")).isEqualTo("unchanged");
    assertThatThrownBy(attempts::throwFailure)
        .hasMessage("first")
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
  }

  @Test
  void withoutAFailureNothingIsThrown() {
    assertThatCode(attempts::throwFailure).doesNotThrowAnyException();
  }
}
