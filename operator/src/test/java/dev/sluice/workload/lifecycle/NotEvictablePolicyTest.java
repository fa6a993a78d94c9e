package dev.sluice.workload.lifecycle;

import static dev.sluice.workload.lifecycle.GivenWorkload.SINCE;
import static dev.sluice.workload.lifecycle.GivenWorkload.workload;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.config.Configuration.WaitForPodsReady;
import dev.sluice.workload.lifecycle.LifecycleAction.PatchStatus;
import dev.sluice.workload.lifecycle.QueueLookup.QueueState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** No eviction of a Workload is started whose pods nobody would stop. */
class NotEvictablePolicyTest {

  private static final Instant NOW = SINCE.plus(Duration.ofHours(1));
  private static final QueueLookup OPEN = new QueueLookup(QueueState.OPEN, QueueState.OPEN);
  private static final LifecycleOptions LIMITS =
      new LifecycleOptions(
          Optional.of(
              new WaitForPodsReady(
                  Duration.ofMinutes(5),
                  false,
                  Duration.ofMinutes(5),
                  new WaitForPodsReady.Requeuing(
                      true, Optional.empty(), Duration.ofMinutes(1), Duration.ofHours(1)))),
          Optional.empty(),
          true,
          false);
  private static final LifecycleOptions NOBODY_STOPS = LIMITS.evicting(workload -> false);
  private static final String RETRY =
      "admissionChecks: [{name: a, state: Retry, message: m, lastTransitionTime: '%s'}]"
          .formatted(SINCE);
  private static final String REJECTED = RETRY.replace("Retry", "Rejected");

  private static LifecycleAction decide(
      GivenWorkload workload, QueueLookup queues, LifecycleOptions options) {
    return LifecyclePolicy.decide(workload.get(), queues, options, NOW);
  }

  private static GivenWorkload ready() {
    return workload().admitted().condition("PodsReady", "True", "Started", "");
  }

  static Stream<Arguments> causes() {
    return Stream.of(
        Arguments.of(
            "LocalQueue drained", ready(), new QueueLookup(QueueState.DRAINED, QueueState.OPEN)),
        Arguments.of(
            "ClusterQueue drained", ready(), new QueueLookup(QueueState.OPEN, QueueState.DRAINED)),
        Arguments.of("pods late", workload().admitted(), OPEN),
        Arguments.of("time over", ready().spec("maximumExecutionTimeSeconds: 60"), OPEN),
        Arguments.of("check asks for another try", ready().status(RETRY), OPEN),
        Arguments.of(
            "to be deactivated",
            ready().condition("DeactivationTarget", "True", "AdmissionCheck", "m"),
            OPEN),
        Arguments.of("deactivated", ready().inactive(), OPEN));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("causes")
  void oneThatRunsIsLeftAlone(String cause, GivenWorkload workload, QueueLookup queues) {
    assertThat(decide(workload, queues, LIMITS).action()).as("if somebody stopped it").isPresent();
    assertThat(decide(workload, queues, NOBODY_STOPS)).isEqualTo(LifecycleAction.NOTHING);
  }

  /** Whoever waits for it learns why it will not go on, once. */
  @Test
  void oneThatACheckRejectsIsToldAndRunsOn() {
    LifecycleAction action = decide(ready().status(REJECTED), OPEN, NOBODY_STOPS);
    PatchStatus patchStatus = (PatchStatus) action.action().orElseThrow();
    assertThat(patchStatus.status().has("admission")).isFalse();
    assertThat(patchStatus.eventSpec())
        .extracting(LifecycleAction.EventSpec::reason)
        .containsExactly("AdmissionCheckRejected");
    assertThat(
            decide(
                ready()
                    .status(REJECTED)
                    .condition("DeactivationTarget", "True", "AdmissionCheck", "m"),
                OPEN,
                NOBODY_STOPS))
        .isEqualTo(LifecycleAction.NOTHING);
  }

  private static List<String> conditions(LifecycleAction action) {
    assertThat(action.action()).get().isInstanceOf(PatchStatus.class);
    JsonNode status = ((PatchStatus) action.action().orElseThrow()).status();
    assertThat(status.has("admission")).isTrue();
    assertThat(status.get("admission").isNull()).isTrue();
    return status
        .get("conditions")
        .valueStream()
        .map(
            condition ->
                "%s %s %s"
                    .formatted(
                        condition.path("type").asText(),
                        condition.path("status").asText(),
                        condition.path("reason").asText()))
        .toList();
  }

  @Test
  void oneThatOnlyHoldsQuotaGivesItBackAtOnce() {
    assertThat(conditions(decide(workload().reserved().status(RETRY), OPEN, NOBODY_STOPS)))
        .contains(
            "Evicted True AdmissionCheck",
            "QuotaReserved False PendingEvaluation",
            "Requeued False AdmissionCheck");
    assertThat(conditions(decide(workload().reserved().inactive(), OPEN, NOBODY_STOPS)))
        .contains("Evicted True Deactivated", "QuotaReserved False Deactivated");
  }

  @Test
  void oneThatSomebodyElseEvictedKeepsItsQuotaUntilThatOneIsDone() {
    GivenWorkload evicted = workload().reserved().condition("Evicted", "True", "Preempted", "");
    assertThat(decide(evicted, OPEN, NOBODY_STOPS)).isEqualTo(LifecycleAction.NOTHING);
    assertThat(decide(evicted.inactive(), OPEN, NOBODY_STOPS)).isEqualTo(LifecycleAction.NOTHING);
  }

  @Test
  void oneWithoutQuotaIsDeactivatedAsAnyOther() {
    assertThat(decide(workload().inactive(), OPEN, NOBODY_STOPS))
        .isEqualTo(decide(workload().inactive(), OPEN, LIMITS));
  }
}
