package dev.sluice.controllers.workload;

import static dev.sluice.controllers.workload.GivenWorkload.SINCE;
import static dev.sluice.controllers.workload.GivenWorkload.workload;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.controllers.workload.Verdict.News;
import dev.sluice.controllers.workload.Verdict.PatchStatus;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What the life cycle asks of a Workload (contract: Workload life cycle, sections 2 to 4). */
class LifecycleDecisionsTest {

  private static final Instant NOW = SINCE.plusSeconds(60);
  private static final Queues OPEN = new Queues(QueueStanding.OPEN, QueueStanding.OPEN);

  private static Verdict decide(GivenWorkload workload) {
    return decide(workload, OPEN);
  }

  private static Verdict decide(GivenWorkload workload, Queues queues) {
    return LifecycleDecisions.decide(workload.get(), queues, LifecycleRules.PATIENT, NOW);
  }

  private static PatchStatus patch(Verdict verdict) {
    assertThat(verdict.action()).get().isInstanceOf(PatchStatus.class);
    return (PatchStatus) verdict.action().orElseThrow();
  }

  private static ObjectNode status(GivenWorkload workload) {
    return patch(decide(workload)).status();
  }

  /** A condition of a status patch: status, reason and message. */
  private static String condition(JsonNode status, String type) {
    for (JsonNode condition : status.path("conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return "%s %s: %s"
            .formatted(
                condition.path("status").asText(),
                condition.path("reason").asText(),
                condition.path("message").asText());
      }
    }
    return "absent";
  }

  @Nested
  class PreemptionGates {

    private static final LifecycleRules GATES =
        new LifecycleRules(Optional.empty(), Optional.empty(), true, false, true);
    private static final String TWO = "preemptionGates: [{name: one}, {name: two}]";

    private static Verdict decideWithGates(GivenWorkload workload) {
      return LifecycleDecisions.decide(workload.get(), OPEN, GATES, NOW);
    }

    @Test
    void areClosedWhenTheyAreNew() {
      JsonNode status = patch(decideWithGates(workload().spec(TWO))).status();

      assertThat(status)
          .hasToString(
              "{\"preemptionGates\":["
                  + "{\"name\":\"one\",\"position\":\"Closed\","
                  + "\"lastTransitionTime\":\"2026-03-01T10:01:00Z\"},"
                  + "{\"name\":\"two\",\"position\":\"Closed\","
                  + "\"lastTransitionTime\":\"2026-03-01T10:01:00Z\"}]}");
    }

    @Test
    void stayAsTheyAreAndGoWithTheirName() {
      String known = "{name: %s, position: Open, lastTransitionTime: '2026-03-01T10:00:00Z'}";
      JsonNode status =
          patch(
                  decideWithGates(
                      workload()
                          .spec(TWO)
                          .status(
                              "preemptionGates: [%s, %s]"
                                  .formatted(known.formatted("two"), known.formatted("old")))))
              .status();

      assertThat(status.at("/preemptionGates")).hasSize(2);
      assertThat(status.at("/preemptionGates/0/position").asText()).isEqualTo("Closed");
      assertThat(status.at("/preemptionGates/1"))
          .hasToString(
              "{\"name\":\"two\",\"position\":\"Open\","
                  + "\"lastTransitionTime\":\"2026-03-01T10:00:00Z\"}");
    }

    @Test
    void areNotWrittenAgainAndNotAtAllWhereTheyDoNotExist() {
      String both =
          "preemptionGates: [{name: one, position: Closed, lastTransitionTime: %s},"
              + " {name: two, position: Open, lastTransitionTime: %s}]";
      String since = "'2026-03-01T10:00:00Z'";
      assertThat(decideWithGates(workload().spec(TWO).status(both.formatted(since, since))))
          .isEqualTo(Verdict.NOTHING);
      assertThat(decide(workload().spec(TWO))).isEqualTo(Verdict.NOTHING);
    }

    @Test
    void areClosedAgainByAnEviction() {
      GivenWorkload workload =
          workload()
              .admitted()
              .spec("preemptionGates: [{name: one}]")
              .condition("BlockedOnPreemptionGates", "True", "PreemptionGated", "closed: one")
              .status(
                  "preemptionGates: [{name: one, position: Open,"
                      + " lastTransitionTime: '2026-03-01T10:00:00Z'}]");
      Verdict verdict =
          LifecycleDecisions.decide(
              workload.get(), new Queues(QueueStanding.DRAINED, QueueStanding.OPEN), GATES, NOW);

      JsonNode status = patch(verdict).status();
      assertThat(status.at("/preemptionGates/0/position").asText()).isEqualTo("Closed");
      assertThat(condition(status, "BlockedOnPreemptionGates")).startsWith("False ");
      assertThat(condition(status, "Evicted")).startsWith("True ");
    }
  }

  @Nested
  class NothingToDo {

    @Test
    void withAWorkloadThatWaits() {
      assertThat(decide(workload())).isEqualTo(Verdict.NOTHING);
      assertThat(
              decide(
                  workload()
                      .condition("QuotaReserved", "False", "WaitingForQuota", "cpu")
                      .condition("Admitted", "False", "NoReservation", "")))
          .isEqualTo(Verdict.NOTHING);
    }

    @ParameterizedTest
    @EnumSource(
        value = QueueStanding.class,
        names = {"OPEN", "HELD", "MISSING", "TERMINATING"})
    void withAWorkloadThatRunsUnlessItsQueueIsDrained(QueueStanding standing) {
      assertThat(decide(workload().admitted(), new Queues(standing, standing)))
          .isEqualTo(Verdict.NOTHING);
    }

    @Test
    void withWhatHasFinishedWhateverElseIsTrue() {
      assertThat(
              decide(workload().admitted().inactive().condition("Finished", "True", "Failed", "")))
          .isEqualTo(Verdict.NOTHING);
    }

    @Test
    void withAWorkloadOnItsWayOutThatItsJobStillGuards() {
      assertThat(decide(workload().inactive().deleting())).isEqualTo(Verdict.NOTHING);
    }

    @Test
    void whileAnEvictionWaitsForTheJobToStop() {
      assertThat(
              decide(
                  workload().admitted().condition("Evicted", "True", "Preempted", ""),
                  new Queues(QueueStanding.DRAINED, QueueStanding.DRAINED)))
          .isEqualTo(Verdict.NOTHING);
    }

    @Test
    void withAWorkloadOnHold() {
      assertThat(
              decide(
                  workload()
                      .gatedBy("example.com/gate")
                      .condition("QuotaReserved", "False", "OnHold", "held")
                      .condition("Admitted", "False", "NoReservation", "")))
          .isEqualTo(Verdict.NOTHING);
    }
  }

  @Nested
  class Orphans {

    @Test
    void whoseJobWentAwayAreFinished() {
      ObjectNode status = status(workload().unowned());
      assertThat(condition(status, "Finished")).startsWith("True OwnerNotFound");
    }

    @Test
    void areLetGoOnceTheyAreFinished() {
      Verdict verdict =
          decide(workload().unowned().condition("Finished", "True", "OwnerNotFound", ""));
      assertThat(verdict.action()).get().isInstanceOf(Verdict.RemoveFinalizer.class);
    }

    @Test
    void thatNobodyEverOwnedLiveUntilTheyAreDeleted() {
      assertThat(decide(workload().neverOwned())).isEqualTo(Verdict.NOTHING);
      assertThat(condition(status(workload().neverOwned().deleting()), "Finished"))
          .startsWith("True OwnerNotFound");
    }
  }

  @Nested
  class Deactivation {

    @Test
    void sendsBackWhatRuns() {
      Verdict verdict = decide(workload().admitted().inactive());

      ObjectNode status = patch(verdict).status();
      assertThat(condition(status, "Evicted")).startsWith("True Deactivated: ");
      assertThat(condition(status, "QuotaReserved")).startsWith("True");
      assertThat(status.has("admission")).isFalse();
      assertThat(status.at("/schedulingStats/evictions/0/reason").asText())
          .isEqualTo("Deactivated");
      assertThat(status.at("/schedulingStats/evictions/0/underlyingCause").asText()).isEmpty();
      assertThat(status.at("/schedulingStats/evictions/0/count").asInt()).isEqualTo(1);
      assertThat(patch(verdict).news())
          .extracting(News::reason)
          .containsExactly("EvictedDueToDeactivated");
    }

    @Test
    void ofWhatWaitsKeepsItOutAndTellsNobodyOfAnEviction() {
      Verdict verdict = decide(workload().inactive());

      ObjectNode status = patch(verdict).status();
      assertThat(condition(status, "Evicted")).startsWith("True Deactivated: ");
      assertThat(condition(status, "QuotaReserved")).startsWith("False Deactivated: ");
      assertThat(condition(status, "Admitted")).startsWith("False NoReservation: ");
      assertThat(patch(verdict).news()).isEmpty();
    }

    @Test
    void happensOnce() {
      String why = "The workload is deactivated";
      assertThat(
              decide(
                  workload()
                      .inactive()
                      .condition("Evicted", "True", "Deactivated", why)
                      .condition("QuotaReserved", "False", "Deactivated", why)
                      .condition(
                          "Admitted", "False", "NoReservation", "The workload has no reservation")
                      .condition("Requeued", "False", "Deactivated", why)))
          .isEqualTo(Verdict.NOTHING);
    }

    @Test
    void comesFirstWhenAnotherEvictionIsUnderWay() {
      ObjectNode status =
          status(
              workload()
                  .admitted()
                  .inactive()
                  .condition("Evicted", "True", "ClusterQueueStopped", "")
                  .status(
                      """
                      schedulingStats:
                        evictions:
                        - {reason: ClusterQueueStopped, underlyingCause: "", count: 2}
                      """));

      assertThat(condition(status, "Evicted")).startsWith("True Deactivated");
      assertThat(status.at("/schedulingStats/evictions").toString())
          .isEqualTo(
              """
              [{"reason":"ClusterQueueStopped","underlyingCause":"","count":2},\
              {"reason":"Deactivated","underlyingCause":"","count":1}]\
              """);
    }

    @Test
    void forgetsTheBackOff() {
      ObjectNode status =
          status(
              workload()
                  .inactive()
                  .status("requeueState: {count: 3, requeueAt: '2026-03-01T12:00:00Z'}"));
      assertThat(status.has("requeueState")).isTrue();
      assertThat(status.get("requeueState").isNull()).isTrue();
    }

    @Test
    void isCarriedOutWhenSomebodyAsksForIt() {
      Verdict verdict =
          decide(
              workload()
                  .admitted()
                  .condition("DeactivationTarget", "True", "RequeuingLimitExceeded", "5 times"));
      assertThat(verdict.action()).get().isInstanceOf(Verdict.Deactivate.class);
    }

    @Test
    void namesWhatIsBehindIt() {
      Verdict verdict =
          decide(
              workload()
                  .admitted()
                  .inactive()
                  .condition("DeactivationTarget", "True", "RequeuingLimitExceeded", "5 times"));

      ObjectNode status = patch(verdict).status();
      assertThat(condition(status, "Evicted"))
          .startsWith("True DeactivatedDueToRequeuingLimitExceeded: ")
          .endsWith("5 times");
      assertThat(condition(status, "DeactivationTarget")).isEqualTo("absent");
      assertThat(status.at("/schedulingStats/evictions/0/reason").asText())
          .isEqualTo("Deactivated");
      assertThat(status.at("/schedulingStats/evictions/0/underlyingCause").asText())
          .isEqualTo("RequeuingLimitExceeded");
      assertThat(patch(verdict).news())
          .extracting(News::reason)
          .containsExactly("EvictedDueToDeactivatedDueToRequeuingLimitExceeded");
    }

    @ParameterizedTest
    @CsvSource({"Deactivated", "DeactivatedDueToRequeuingLimitExceeded"})
    void endsWhenItIsActiveAgain(String reason) {
      ObjectNode status =
          status(
              workload()
                  .condition("Evicted", "True", reason, "off")
                  .condition("QuotaReserved", "False", "Deactivated", "off")
                  .condition("Admitted", "False", "NoReservation", "")
                  .condition("Requeued", "False", reason, "off"));

      assertThat(condition(status, "Requeued")).startsWith("True Reactivated: ");
      assertThat(condition(status, "QuotaReserved")).startsWith("False PendingEvaluation: ");
      assertThat(condition(status, "Evicted")).as("until the next reservation").startsWith("True");
    }

    @Test
    void endsAlsoForWhatNeverHadQuota() {
      ObjectNode status =
          status(
              workload()
                  .condition("Evicted", "True", "Deactivated", "off")
                  .condition("QuotaReserved", "False", "Deactivated", "off"));
      assertThat(condition(status, "QuotaReserved")).startsWith("False PendingEvaluation: ");
      assertThat(condition(status, "Requeued")).isEqualTo("absent");
    }
  }

  @Nested
  class StoppedQueues {

    @ParameterizedTest
    @CsvSource({
      "DRAINED, OPEN, LocalQueueStopped",
      "OPEN, DRAINED, ClusterQueueStopped",
      "DRAINED, DRAINED, LocalQueueStopped"
    })
    void thatAreDrainedSendBackWhatRuns(QueueStanding local, QueueStanding cluster, String reason) {
      Verdict verdict = decide(workload().admitted(), new Queues(local, cluster));

      ObjectNode status = patch(verdict).status();
      assertThat(condition(status, "Evicted")).startsWith("True " + reason + ": ");
      assertThat(condition(status, "QuotaReserved")).startsWith("True");
      assertThat(patch(verdict).news())
          .extracting(News::reason)
          .containsExactly("EvictedDueTo" + reason);
    }

    @ParameterizedTest
    @CsvSource({
      "HELD, OPEN, Suspended",
      "OPEN, HELD, Suspended",
      "OPEN, DRAINED, Suspended",
      "MISSING, OPEN, Misconfigured",
      "OPEN, MISSING, Misconfigured",
      "OPEN, TERMINATING, Misconfigured"
    })
    void takeBackWhatIsNotAdmittedYet(QueueStanding local, QueueStanding cluster, String reason) {
      ObjectNode status = patch(decide(workload().reserved(), new Queues(local, cluster))).status();

      assertThat(condition(status, "QuotaReserved")).startsWith("False " + reason + ": ");
      assertThat(condition(status, "Admitted")).startsWith("False NoReservation: ");
      assertThat(status.get("admission").isNull()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
      "LocalQueueStopped, LocalQueueRestarted",
      "ClusterQueueStopped, ClusterQueueRestarted"
    })
    void letBackInWhomTheyHadSentAwayWhenTheyRestart(String reason, String restarted) {
      GivenWorkload sentBack =
          workload()
              .condition("Evicted", "True", reason, "stopped")
              .condition("QuotaReserved", "False", "Suspended", "stopped")
              .condition("Admitted", "False", "NoReservation", "")
              .condition("Requeued", "False", reason, "stopped");
      for (QueueStanding standing : Set.of(QueueStanding.HELD, QueueStanding.DRAINED)) {
        assertThat(decide(sentBack, new Queues(standing, standing))).isEqualTo(Verdict.NOTHING);
      }

      ObjectNode status = status(sentBack);
      assertThat(condition(status, "Requeued")).startsWith("True " + restarted + ": ");
      assertThat(condition(status, "QuotaReserved")).startsWith("False PendingEvaluation: ");
    }
  }

  @Nested
  class BackOff {

    private GivenWorkload backingOffUntil(Instant until, int count) {
      return workload()
          .condition("QuotaReserved", "False", "PendingEvaluation", "")
          .condition("Admitted", "False", "NoReservation", "")
          .condition("Requeued", "False", "PodsReadyTimeout", "")
          .status("requeueState: {count: %d, requeueAt: '%s'}".formatted(count, until));
    }

    @Test
    void isWaitedFor() {
      Instant until = NOW.plusSeconds(10);
      Verdict verdict = decide(backingOffUntil(until, 1));
      assertThat(verdict.action()).isEmpty();
      assertThat(verdict.lookAgain()).contains(until);
    }

    @Test
    void endsAtItsTimeAndKeepsTheCount() {
      ObjectNode status = status(backingOffUntil(NOW, 2));
      assertThat(condition(status, "Requeued")).startsWith("True BackoffFinished: ");
      assertThat(status.get("requeueState").toString()).isEqualTo("{\"requeueAt\":null}");
    }

    @Test
    void leavesNothingBehindWhenNothingWasCounted() {
      assertThat(status(backingOffUntil(NOW, 0)).get("requeueState").isNull()).isTrue();
    }
  }

  @Nested
  class Gates {

    @Test
    void keepAWorkloadOut() {
      Verdict verdict = decide(workload().gatedBy("example.com/a,example.com/b"));

      ObjectNode status = patch(verdict).status();
      assertThat(condition(status, "QuotaReserved"))
          .startsWith("False AdmissionGated: ")
          .contains("example.com/a,example.com/b");
      assertThat(patch(verdict).news()).extracting(News::reason).containsExactly("AdmissionGated");
    }

    @Test
    void areToldOnceAlsoWhenTheirListShrinks() {
      GivenWorkload gated =
          workload()
              .gatedBy("example.com/b")
              .condition("QuotaReserved", "False", "AdmissionGated", "Admission is gated by: a,b")
              .condition("Admitted", "False", "NoReservation", "");
      assertThat(patch(decide(gated)).news()).isEmpty();
    }

    @Test
    void letItQueueOnceTheyAreCleared() {
      Verdict verdict =
          decide(
              workload()
                  .condition("QuotaReserved", "False", "AdmissionGated", "a")
                  .condition("Admitted", "False", "NoReservation", ""));
      assertThat(condition(patch(verdict).status(), "QuotaReserved"))
          .startsWith("False PendingEvaluation: ");
      assertThat(patch(verdict).news())
          .extracting(News::reason)
          .containsExactly("AdmissionGateCleared");
    }

    @Test
    void doNothingToWhatHoldsQuota() {
      assertThat(decide(workload().admitted().gatedBy("example.com/a"))).isEqualTo(Verdict.NOTHING);
    }
  }

  @Nested
  class Admitted {

    @Test
    void followsAReservationThatSomebodyElseMade() {
      Verdict verdict = decide(workload().reserved());
      assertThat(condition(patch(verdict).status(), "Admitted")).startsWith("True Admitted: ");
      assertThat(patch(verdict).news()).extracting(News::reason).containsExactly("Admitted");
    }

    @Test
    void waitsForChecks() {
      GivenWorkload waiting =
          workload()
              .reserved()
              .status("admissionChecks: [{name: check, state: Pending, message: ''}]");
      ObjectNode status = status(waiting);
      assertThat(condition(status, "Admitted")).startsWith("False UnsatisfiedAdmissionChecks: ");
      assertThat(decide(waiting.status(status.toString()))).isEqualTo(Verdict.NOTHING);
    }

    @Test
    void endsWithAReservationThatSomebodyElseTookBackAndCountsTheTimeItRan() {
      ObjectNode status =
          status(
              workload()
                  .condition("QuotaReserved", "False", "PendingEvaluation", "stopped")
                  .condition("Admitted", "True", "Admitted", "")
                  .status("accumulatedPastExecutionTimeSeconds: 5"));
      assertThat(condition(status, "Admitted")).startsWith("False NoReservation: ");
      assertThat(condition(status, "QuotaReserved")).isEqualTo("False PendingEvaluation: stopped");
      assertThat(status.get("accumulatedPastExecutionTimeSeconds").asInt()).isEqualTo(65);
    }
  }

  @Nested
  class TimeLimit {

    @Test
    void isWaitedForFromAdmissionLessWhatItRanBefore() {
      Verdict verdict =
          decide(
              workload()
                  .admitted()
                  .spec("maximumExecutionTimeSeconds: 100")
                  .status("accumulatedPastExecutionTimeSeconds: 30"));
      assertThat(verdict.action()).isEmpty();
      assertThat(verdict.lookAgain()).contains(SINCE.plusSeconds(70));
    }

    @Test
    void endsIt() {
      Verdict verdict =
          decide(
              workload()
                  .admitted()
                  .spec("maximumExecutionTimeSeconds: 60")
                  .status("accumulatedPastExecutionTimeSeconds: 1"));
      ObjectNode status = patch(verdict).status();
      assertThat(condition(status, "DeactivationTarget"))
          .startsWith("True MaximumExecutionTimeExceeded: ");
      assertThat(status.get("accumulatedPastExecutionTimeSeconds").isNull()).isTrue();
      assertThat(patch(verdict).news())
          .containsExactly(
              new News(
                  true,
                  "MaximumExecutionTimeExceeded",
                  "It ran longer than its maximum execution time of 60s"));
    }

    @Test
    void beginsAnewAfterReactivation() {
      ObjectNode status =
          status(
              workload()
                  .condition("QuotaReserved", "False", "Deactivated", "")
                  .condition(
                      "Requeued", "False", "DeactivatedDueToMaximumExecutionTimeExceeded", "")
                  .status("accumulatedPastExecutionTimeSeconds: 60"));
      assertThat(status.get("accumulatedPastExecutionTimeSeconds").isNull()).isTrue();
    }
  }

  /** Whatever is decided, once written, is not decided again. */
  @Test
  void aDecisionThatStandsIsNotMadeAgain() {
    Set<GivenWorkload> given =
        Arrays.stream(
                new GivenWorkload[] {
                  workload().inactive(),
                  workload().gatedBy("x"),
                  workload().condition("QuotaReserved", "False", "AdmissionGated", ""),
                  workload().condition("QuotaReserved", "False", "Deactivated", ""),
                  workload().condition("Requeued", "False", "LocalQueueStopped", ""),
                  workload().spec("queueName: ''"),
                  workload().unowned()
                })
            .collect(Collectors.toSet());
    for (GivenWorkload workload : given) {
      ObjectNode status = status(workload);
      GivenWorkload after = workload.status(status.toString());
      assertThat(decide(after).action().filter(PatchStatus.class::isInstance))
          .as(status.toString())
          .isEmpty();
    }
  }
}
