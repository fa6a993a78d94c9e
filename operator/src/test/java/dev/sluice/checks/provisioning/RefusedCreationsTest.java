package dev.sluice.checks.provisioning;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.provisioning.NodeCapacityReconciler.RefusedCreations;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class RefusedCreationsTest {

  private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");

  private final RefusedCreations refusals = new RefusedCreations(Duration.ofSeconds(30));

  @Test
  void aRefusalIsFollowedByAPause() {
    assertThat(refusals.rest("uid", "check", NOW)).isEmpty();
    refusals.refused("uid", "check", NOW);
    assertThat(refusals.rest("uid", "check", NOW.plusSeconds(10))).contains(Duration.ofSeconds(20));
    assertThat(refusals.rest("uid", "other", NOW)).isEmpty();
    assertThat(refusals.rest("uid-2", "check", NOW)).isEmpty();
    assertThat(refusals.rest("uid", "check", NOW.plusSeconds(30))).isEmpty();
  }

  @Test
  void aClockThatIsSetBackDoesNotMakeThePauseLonger() {
    refusals.refused("uid", "check", NOW);
    assertThat(refusals.rest("uid", "check", NOW.minusSeconds(3600))).isEmpty();
  }

  @Test
  void aWorkloadThatIsGoneIsForgotten() {
    refusals.refused("uid", "check", NOW);
    refusals.forget("uid");
    assertThat(refusals.rest("uid", "check", NOW)).isEmpty();
  }

  @Test
  void theOldestAreForgottenWhenThereAreMany() {
    for (int i = 0; i <= 10_000; i++) {
      refusals.refused("uid-" + i, "check", NOW);
    }
    assertThat(refusals.rest("uid-0", "check", NOW)).isEmpty();
    assertThat(refusals.rest("uid-1", "check", NOW)).isPresent();
  }
}
