package dev.sluice.jobs.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.jobs.recovery.FailureRecoveryController.ForcefulDeletionPolicy;
import dev.sluice.jobs.recovery.FailureRecoveryController.ForcefulDeletionPolicy.Decision;
import dev.sluice.jobs.recovery.FailureRecoveryController.TerminatingPod;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which pods are deleted by force, and when. */
class ForcefulDeletionPolicyTest {

  private static final Instant NOW = Instant.parse("2026-01-01T00:10:00Z");

  private final ForcefulDeletionPolicy policy =
      new ForcefulDeletionPolicy(InstantSource.fixed(NOW), Set.of("lost")::contains);

  private static TerminatingPod pod(
      String node, Duration since, int grace, boolean ended, boolean forced) {
    return new TerminatingPod(
        "ns", "p", "u", "7", node, NOW.minus(since), Duration.ofSeconds(grace), ended, forced);
  }

  @ParameterizedTest
  @CsvSource({"60, 0", "61, 0", "60, 30", "600, 30", "60, 3600"})
  void aPodThatShouldHaveEndedAMinuteAgoIsFailed(int seconds, int grace) {
    assertThat(policy.of(pod("lost", Duration.ofSeconds(seconds), grace, false, false)))
        .isEqualTo(new Decision.Fail());
  }

  @ParameterizedTest
  @CsvSource({"59, 0, 1", "30, 30, 30", "59, 30, 1", "-30, 30, 90", "0, 0, 60"})
  void aPodThatIsDeletedLaterIsWaitedFor(int seconds, int grace, int left) {
    assertThat(policy.of(pod("lost", Duration.ofSeconds(seconds), grace, false, false)))
        .isEqualTo(new Decision.Wait(Duration.ofSeconds(left)));
  }

  @ParameterizedTest
  @CsvSource({"reachable", "''"})
  void aPodOfAnotherNodeOrOfNoneIsLeftAlone(String node) {
    assertThat(policy.of(pod(node, Duration.ofHours(1), 0, false, false)))
        .isEqualTo(new Decision.Ignore());
  }

  @Test
  void aPodThatEndedByItselfIsDeletedWithItsPhase() {
    assertThat(policy.of(pod("lost", Duration.ofHours(1), 30, true, false)))
        .isEqualTo(new Decision.Delete());
  }

  @ParameterizedTest
  @CsvSource({"reachable, 3600", "lost, 10"})
  void aPodThatEndedByItselfIsNotDeletedWithoutNeedOrEarly(String node, int seconds) {
    assertThat(policy.of(pod(node, Duration.ofSeconds(seconds), 30, true, false)))
        .isNotEqualTo(new Decision.Delete());
  }

  @Test
  void aPodThatEndedByItselfAndWasDeletedByForceWaitsForItsFinalizersOnly() {
    assertThat(policy.of(pod("lost", Duration.ofHours(1), 0, true, false)))
        .isEqualTo(new Decision.Ignore());
  }

  @Test
  void aPodThatWasFailedIsDeletedWhereverItsNodeIs() {
    assertThat(policy.of(pod("reachable", Duration.ofHours(1), 30, true, true)))
        .isEqualTo(new Decision.Delete());
  }

  @Test
  void aPodThatWasDeletedByForceWaitsForItsFinalizersOnly() {
    assertThat(policy.of(pod("lost", Duration.ofHours(1), 0, true, true)))
        .isEqualTo(new Decision.Ignore());
  }
}
