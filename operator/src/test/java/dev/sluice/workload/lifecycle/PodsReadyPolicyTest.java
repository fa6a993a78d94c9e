package dev.sluice.workload.lifecycle;

import static dev.sluice.api.KueueConstants.WAIT_FOR_PODS_READY;
import static dev.sluice.workload.lifecycle.GivenWorkload.SINCE;
import static dev.sluice.workload.lifecycle.GivenWorkload.workload;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.config.Configuration.WaitForPodsReady;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.queueing.StartRules;
import dev.sluice.workload.lifecycle.LifecycleAction.EventSpec;
import dev.sluice.workload.lifecycle.LifecycleAction.PatchStatus;
import dev.sluice.workload.lifecycle.QueueLookup.QueueState;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Workloads whose pods take too long (docs/scheduling-semantics.md#waiting-for-pods). */
class PodsReadyPolicyTest {

  private static final QueueLookup OPEN = new QueueLookup(QueueState.OPEN, QueueState.OPEN);
  private Duration timeout = Duration.ofSeconds(60);
  private Duration recovery = Duration.ofSeconds(20);
  private Optional<Duration> unscheduled = Optional.empty();
  private Optional<Integer> limit = Optional.empty();

  private QueueLookup queues = OPEN;
  private Optional<WaitForPodsReady.WorkloadLevel> workloadLevel = Optional.empty();

  /**
   * docs/workload-lifecycle.md#time-outs-of-a-single-workload: gate WorkloadLevelWaitForPodsReady
   * (changes of 0.20, section 4).
   */
  @Test
  void haveTheTimeThatTheirWorkloadSaysUpToTheLongest() {
    String times = "{\"timeoutSeconds\": 90, \"recoveryTimeoutSeconds\": 0}";
    GivenWorkload starts = notReady("WaitForStart").annotation(WAIT_FOR_PODS_READY, times);
    GivenWorkload recovers = notReady("WaitForRecovery").annotation(WAIT_FOR_PODS_READY, times);
    assertThat(at(1, starts).reconcileAt()).contains(SINCE.plusSeconds(60));
    assertThat(at(1, recovers).reconcileAt()).contains(SINCE.plusSeconds(20));

    workloadLevel = Optional.of(new WaitForPodsReady.WorkloadLevel(Optional.empty()));
    assertThat(at(1, starts).reconcileAt()).contains(SINCE.plusSeconds(90));
    assertThat(at(6000, recovers)).isEqualTo(LifecycleAction.NOTHING);
    assertThat(at(1, notReady("WaitForStart")).reconcileAt()).contains(SINCE.plusSeconds(60));
    assertThat(at(1, notReady("WaitForStart").annotation(WAIT_FOR_PODS_READY, "5m")).reconcileAt())
        .contains(SINCE.plusSeconds(60));

    workloadLevel =
        Optional.of(new WaitForPodsReady.WorkloadLevel(Optional.of(Duration.ofSeconds(70))));
    assertThat(at(1, starts).reconcileAt()).contains(SINCE.plusSeconds(70));
    assertThat(at(1, recovers).reconcileAt()).contains(SINCE.plusSeconds(70));
  }

  /**
   * Changes of 0.20, section 4: WaitForPodsReadyUnscheduledTimeout, from admission, with back-off.
   */
  @Test
  void withoutNodesAreSentBackEarlier() {
    unscheduled = Optional.of(Duration.ofSeconds(30));
    queues = OPEN.withUnscheduledPods(true);

    assertThat(at(1, notReady("WaitForStart")).reconcileAt()).contains(SINCE.plusSeconds(30));
    LifecycleAction late = at(30, notReady("WaitForStart").status("requeueState: {count: 1}"));
    assertThat(condition(status(late), "Evicted")).isEqualTo("True PodsReadyTimeout");
    assertThat(status(late).at("/schedulingStats/evictions/0/underlyingCause").asText())
        .isEqualTo("WorkloadWaitForScheduling");
    assertThat(status(late).at("/requeueState/count").asInt()).isEqualTo(2);

    // of pods that were ready once, the time to recover counts; without unscheduled pods that to
    // start
    assertThat(at(1, notReady("WaitForRecovery")).reconcileAt()).contains(SINCE.plusSeconds(20));
    queues = OPEN;
    assertThat(at(30, notReady("WaitForStart")).reconcileAt()).contains(SINCE.plusSeconds(60));
    timeout = Duration.ZERO;
    queues = OPEN.withUnscheduledPods(true);
    assertThat(at(1, notReady("WaitForStart")).reconcileAt()).contains(SINCE.plusSeconds(30));
  }

  @Test
  void haveTheTimeOfTheirQueueInsteadAndTheSameBackoffEachTimeWithoutLimit() {
    limit = Optional.of(1);
    queues =
        new QueueLookup(
            QueueState.OPEN,
            QueueState.OPEN,
            Optional.empty(),
            StartRules.of(
                Map.of(QueueAnnotations.START_TIMEOUT, "5m", QueueAnnotations.START_BACKOFF, "2m")),
            Optional.empty(),
            false,
            Map.of());

    assertThat(at(299, notReady("WaitForStart")).reconcileAt()).contains(SINCE.plusSeconds(300));
    for (int before : new int[] {1, 2, 9}) {
      ObjectNode status =
          status(
              at(
                  300,
                  notReady("WaitForStart").status("requeueState: {count: %d}".formatted(before))));
      assertThat(condition(status, "Evicted")).isEqualTo("True PodsReadyTimeout");
      assertThat(status.at("/requeueState/requeueAt").asText()).isEqualTo("2026-03-01T10:07:00Z");
    }
    // pods that were ready once have all the time
    assertThat(at(6000, notReady("WaitForRecovery"))).isEqualTo(LifecycleAction.NOTHING);
  }

  private LifecycleAction at(int second, GivenWorkload workload) {
    LifecycleOptions rules =
        new LifecycleOptions(
            Optional.of(
                new WaitForPodsReady(
                    timeout,
                    false,
                    recovery,
                    unscheduled,
                    new WaitForPodsReady.Requeuing(
                        true, limit, Duration.ofSeconds(10), Duration.ofSeconds(35)),
                    workloadLevel)),
            Optional.of(Duration.ofMinutes(5)),
            true,
            false);
    Instant now = SINCE.plusSeconds(second).plusMillis(700);
    return LifecyclePolicy.decide(workload.get(), queues, rules, now);
  }

  private static ObjectNode status(LifecycleAction lifecycleAction) {
    assertThat(lifecycleAction.action()).get().isInstanceOf(PatchStatus.class);
    return ((PatchStatus) lifecycleAction.action().orElseThrow()).status();
  }

  private static String condition(JsonNode status, String type) {
    for (JsonNode condition : status.path("conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("status").asText() + " " + condition.path("reason").asText();
      }
    }
    return "absent";
  }

  /** Who waits because of a gate has no pods either. */
  @Test
  void whatIsKeptOutIsNotReady() {
    assertThat(condition(status(at(0, workload().gatedBy("example.test/a"))), "PodsReady"))
        .isEqualTo("False WaitForStart");
    assertThat(
            condition(
                status(at(0, workload().neverOwned().gatedBy("example.test/a"))), "PodsReady"))
        .isEqualTo("absent");
  }

  private static GivenWorkload notReady(String reason) {
    return workload().admitted().condition("PodsReady", "False", reason, "");
  }

  @Test
  void areWaitedForFromAdmission() {
    LifecycleAction lifecycleAction = at(59, notReady("WaitForStart"));
    assertThat(lifecycleAction.action()).isEmpty();
    assertThat(lifecycleAction.reconcileAt()).contains(SINCE.plusSeconds(60));
    assertThat(at(59, workload().admitted()).reconcileAt()).contains(SINCE.plusSeconds(60));
  }

  @Test
  void areSentBackAndBackOff() {
    LifecycleAction lifecycleAction = at(60, notReady("WaitForStart"));

    ObjectNode status = status(lifecycleAction);
    assertThat(condition(status, "Evicted")).isEqualTo("True PodsReadyTimeout");
    assertThat(status.get("requeueState").toString())
        .isEqualTo("{\"count\":1,\"requeueAt\":\"2026-03-01T10:01:10Z\"}");
    assertThat(status.at("/schedulingStats/evictions").toString())
        .isEqualTo(
            "[{\"reason\":\"PodsReadyTimeout\",\"underlyingCause\":\"WaitForStart\",\"count\":1}]");
    assertThat(((PatchStatus) lifecycleAction.action().orElseThrow()).eventSpec())
        .extracting(EventSpec::reason)
        .containsExactly("EvictedDueToPodsReadyTimeout");
  }

  @ParameterizedTest
  @CsvSource({"1, 10:01:20", "2, 10:01:35", "3, 10:01:35", "70, 10:01:35"})
  void backOffTwiceAsLongEachTimeUpToTheLongest(int before, String until) {
    ObjectNode status =
        status(
            at(60, notReady("WaitForStart").status("requeueState: {count: %d}".formatted(before))));
    assertThat(status.at("/requeueState/count").asInt()).isEqualTo(before + 1);
    assertThat(status.at("/requeueState/requeueAt").asText())
        .isEqualTo("2026-03-01T" + until + "Z");
  }

  @Test
  void areLeftAloneOnceTheyAreReady() {
    GivenWorkload ready = workload().admitted().condition("PodsReady", "True", "Started", "");
    assertThat(at(6000, ready)).isEqualTo(LifecycleAction.NOTHING);
  }

  @Test
  void thatWereReadyHaveTheTimeForRecovery() {
    assertThat(at(19, notReady("WaitForRecovery")).reconcileAt()).contains(SINCE.plusSeconds(20));
    ObjectNode status = status(at(20, notReady("WaitForRecovery")));
    assertThat(status.at("/schedulingStats/evictions/0/underlyingCause").asText())
        .isEqualTo("WaitForRecovery");
    recovery = Duration.ZERO;
    assertThat(at(6000, notReady("WaitForRecovery"))).isEqualTo(LifecycleAction.NOTHING);
  }

  @Test
  void areDeactivatedWhenTheyWereSentBackOftenEnough() {
    limit = Optional.of(2);
    assertThat(
            condition(
                status(at(60, notReady("WaitForStart").status("requeueState: {count: 1}"))),
                "Evicted"))
        .isEqualTo("True PodsReadyTimeout");
    ObjectNode status = status(at(60, notReady("WaitForStart").status("requeueState: {count: 2}")));
    assertThat(condition(status, "DeactivationTarget")).isEqualTo("True RequeuingLimitExceeded");
    assertThat(condition(status, "Evicted")).isEqualTo("absent");
  }

  @Test
  void whicheverTimeIsUpFirstCounts() {
    GivenWorkload both = notReady("WaitForStart").spec("maximumExecutionTimeSeconds: 30");
    assertThat(at(10, both).reconcileAt()).contains(SINCE.plusSeconds(30));
    assertThat(condition(status(at(31, both)), "DeactivationTarget"))
        .isEqualTo("True MaximumExecutionTimeExceeded");
  }

  @Test
  void whatFinishedIsDeletedWhenItWasKeptLongEnough() {
    GivenWorkload finished =
        workload().admitted().condition("Finished", "True", "Succeeded", "done");
    assertThat(at(299, finished).reconcileAt()).contains(SINCE.plusSeconds(300));
    assertThat(at(299, finished).action()).isEmpty();
    assertThat(at(300, finished).action())
        .get()
        .isInstanceOfSatisfying(
            LifecycleAction.Delete.class,
            delete ->
                assertThat(delete.eventSpec())
                    .extracting(EventSpec::reason)
                    .containsExactly("Deleted"));
    assertThat(at(300, finished.deleting())).isEqualTo(LifecycleAction.NOTHING);
  }

  @Test
  void withTheGateAWorkloadSaysAtOnceThatItWaits() {
    LifecycleOptions explicit =
        new LifecycleOptions(Optional.empty(), Optional.empty(), true, true);
    LifecycleAction lifecycleAction =
        LifecyclePolicy.decide(workload().get(), OPEN, explicit, SINCE);
    assertThat(condition(status(lifecycleAction), "QuotaReserved"))
        .isEqualTo("False PendingEvaluation");
    assertThat(condition(status(lifecycleAction), "Admitted")).isEqualTo("False NoReservation");
    GivenWorkload told = workload().condition("QuotaReserved", "False", "WaitingForQuota", "");
    assertThat(LifecyclePolicy.decide(told.get(), OPEN, explicit, SINCE))
        .isEqualTo(LifecycleAction.NOTHING);
  }

  /** Gate FinishOrphanedWorkloads. */
  @Test
  void withoutTheGateAWorkloadWhoseJobLeftItLives() {
    LifecycleOptions off = new LifecycleOptions(Optional.empty(), Optional.empty(), false, false);
    assertThat(LifecyclePolicy.decide(workload().unowned().get(), OPEN, off, SINCE))
        .isEqualTo(LifecycleAction.NOTHING);
  }
}
