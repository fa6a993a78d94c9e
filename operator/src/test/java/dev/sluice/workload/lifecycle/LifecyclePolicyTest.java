package dev.sluice.workload.lifecycle;

import static dev.sluice.workload.lifecycle.GivenWorkload.SINCE;
import static dev.sluice.workload.lifecycle.GivenWorkload.workload;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.queueing.StartRules;
import dev.sluice.workload.lifecycle.LifecycleAction.Annotate;
import dev.sluice.workload.lifecycle.LifecycleAction.EventSpec;
import dev.sluice.workload.lifecycle.LifecycleAction.PatchStatus;
import dev.sluice.workload.lifecycle.QueueLookup.QueueState;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.status.Evictions;
import dev.sluice.workload.status.IdleSpreading;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What the life cycle asks of a Workload (docs/workload-semantics.md#reasons-for-waiting). */
class LifecyclePolicyTest {

  private static final Instant NOW = SINCE.plusSeconds(60);
  private static final QueueLookup OPEN = new QueueLookup(QueueState.OPEN, QueueState.OPEN);

  private static LifecycleAction decide(GivenWorkload workload) {
    return decide(workload, OPEN);
  }

  private static LifecycleAction decide(GivenWorkload workload, QueueLookup queueLookup) {
    return LifecyclePolicy.decide(
        workload.get(), queueLookup, LifecycleOptions.WITHOUT_LIMITS, NOW);
  }

  private static PatchStatus patch(LifecycleAction lifecycleAction) {
    assertThat(lifecycleAction.action()).get().isInstanceOf(PatchStatus.class);
    return (PatchStatus) lifecycleAction.action().orElseThrow();
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

  /** Changes of 0.20, section 4, TASTopologySpreading: a rule without effect is told. */
  @Nested
  class IdleRules {

    private static final String SPREAD =
        """
        podSets:
        - name: main
          count: 1
          template:
            metadata:
              annotations:
                kueue.x-k8s.io/podset-topology-spreading: >-
                  {"rules": [{"topologyKey": "rack", "maxShareAllowingPlacement": "50%"}]}
            spec: {containers: [{name: c, image: i}]}
        """;

    private static LifecycleAction decideWith(GivenWorkload workload, List<String> levels) {
      return decide(
          workload, OPEN.withIdleSpreading(IdleSpreading.of(workload.get(), flavor -> levels)));
    }

    @Test
    void aRuleOfNoLevelAndAFlavorWithoutTopologyAreTold() {
      JsonNode noLevel =
          patch(decideWith(workload().spec(SPREAD).admitted(), List.of("block"))).status();
      assertThat(condition(noLevel, "TopologySpreadKeyNotFound"))
          .isEqualTo(
              "True TopologySpreadKeyNotFound: pod set main: rack is no level of the topology of"
                  + " flavor spot");
      assertThat(condition(noLevel, "TopologySpreadingNotApplied")).isEqualTo("absent");
      JsonNode noTopology =
          patch(decideWith(workload().spec(SPREAD).admitted(), List.of())).status();
      assertThat(condition(noTopology, "TopologySpreadingNotApplied"))
          .isEqualTo(
              "True TopologySpreadingNotApplied: pod set main: none of its flavors has a topology");
      assertThat(condition(noTopology, "TopologySpreadKeyNotFound")).isEqualTo("absent");
    }

    @Test
    void rulesWithEffectAreNotToldAndNoMoreIfTheyWere() {
      assertThat(decideWith(workload().spec(SPREAD).admitted(), List.of("block", "rack")).action())
          .isEmpty();
      assertThat(decideWith(workload().admitted(), List.of()).action()).isEmpty();
      GivenWorkload told =
          workload()
              .spec(SPREAD)
              .admitted()
              .condition("TopologySpreadKeyNotFound", "True", "TopologySpreadKeyNotFound", "m");
      assertThat(
              condition(
                  patch(decideWith(told, List.of("rack"))).status(), "TopologySpreadKeyNotFound"))
          .isEqualTo("False Applied: Previously: m");
    }
  }

  /** The job may still run there, and {@code clusterName} is cleared. */
  @Test
  void theClusterThatItIsSentBackFromIsRemembered() {
    GivenWorkload there = workload().admitted().inactive().status("clusterName: remote");

    JsonNode status = status(there);

    assertThat(status.path("clusterName").isNull()).isTrue();
    assertThat(condition(status, "sluice.dev/EvictedFromCluster"))
        .isEqualTo("True SentBack: remote");
    assertThat(condition(status(workload().admitted().inactive()), "sluice.dev/EvictedFromCluster"))
        .isEqualTo("absent");
    assertThat(
            Evictions.lastCluster(
                    workload()
                        .condition("sluice.dev/EvictedFromCluster", "True", "SentBack", "remote")
                        .get())
                .map(CachedWorkload.Condition::message))
        .contains("remote");
    assertThat(Evictions.lastCluster(workload().get())).isEmpty();
  }

  @Nested
  class PreemptionGates {

    private static final LifecycleOptions GATES =
        new LifecycleOptions(Optional.empty(), Optional.empty(), true, false, true);
    private static final String TWO = "preemptionGates: [{name: one}, {name: two}]";

    private static LifecycleAction decideWithGates(GivenWorkload workload) {
      return LifecyclePolicy.decide(workload.get(), OPEN, GATES, NOW);
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
          .isEqualTo(LifecycleAction.NOTHING);
      assertThat(decide(workload().spec(TWO))).isEqualTo(LifecycleAction.NOTHING);
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
      LifecycleAction lifecycleAction =
          LifecyclePolicy.decide(
              workload.get(), new QueueLookup(QueueState.DRAINED, QueueState.OPEN), GATES, NOW);

      JsonNode status = patch(lifecycleAction).status();
      assertThat(status.at("/preemptionGates/0/position").asText()).isEqualTo("Closed");
      assertThat(condition(status, "BlockedOnPreemptionGates")).startsWith("False ");
      assertThat(condition(status, "Evicted")).startsWith("True ");
    }
  }

  @Nested
  class NothingToDo {

    @Test
    void withAWorkloadThatWaits() {
      assertThat(decide(workload())).isEqualTo(LifecycleAction.NOTHING);
      assertThat(
              decide(
                  workload()
                      .condition("QuotaReserved", "False", "WaitingForQuota", "cpu")
                      .condition("Admitted", "False", "NoReservation", "")))
          .isEqualTo(LifecycleAction.NOTHING);
    }

    @ParameterizedTest
    @EnumSource(
        value = QueueState.class,
        names = {"OPEN", "HELD", "MISSING", "TERMINATING"})
    void withAWorkloadThatRunsUnlessItsQueueIsDrained(QueueState standing) {
      assertThat(decide(workload().admitted(), new QueueLookup(standing, standing)))
          .isEqualTo(LifecycleAction.NOTHING);
    }

    @Test
    void withWhatHasFinishedWhateverElseIsTrue() {
      assertThat(
              decide(workload().admitted().inactive().condition("Finished", "True", "Failed", "")))
          .isEqualTo(LifecycleAction.NOTHING);
    }

    @Test
    void withAWorkloadOnItsWayOutThatItsJobStillGuards() {
      assertThat(decide(workload().inactive().deleting())).isEqualTo(LifecycleAction.NOTHING);
    }

    @Test
    void whileAnEvictionWaitsForTheJobToStop() {
      assertThat(
              decide(
                  workload().admitted().condition("Evicted", "True", "Preempted", ""),
                  new QueueLookup(QueueState.DRAINED, QueueState.DRAINED)))
          .isEqualTo(LifecycleAction.NOTHING);
    }

    @Test
    void withAWorkloadOnHold() {
      assertThat(
              decide(
                  workload()
                      .gatedBy("example.com/gate")
                      .condition("QuotaReserved", "False", "OnHold", "held")
                      .condition("Admitted", "False", "NoReservation", "")))
          .isEqualTo(LifecycleAction.NOTHING);
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
      LifecycleAction lifecycleAction =
          decide(workload().unowned().condition("Finished", "True", "OwnerNotFound", ""));
      assertThat(lifecycleAction.action())
          .get()
          .isInstanceOf(LifecycleAction.RemoveFinalizer.class);
    }

    @Test
    void thatNobodyEverOwnedLiveUntilTheyAreDeleted() {
      assertThat(decide(workload().neverOwned())).isEqualTo(LifecycleAction.NOTHING);
      assertThat(condition(status(workload().neverOwned().deleting()), "Finished"))
          .startsWith("True OwnerNotFound");
    }
  }

  @Nested
  class Deactivation {

    @Test
    void sendsBackWhatRuns() {
      LifecycleAction lifecycleAction = decide(workload().admitted().inactive());

      ObjectNode status = patch(lifecycleAction).status();
      assertThat(condition(status, "Evicted")).startsWith("True Deactivated: ");
      assertThat(condition(status, "QuotaReserved")).startsWith("True");
      assertThat(status.has("admission")).isFalse();
      assertThat(status.at("/schedulingStats/evictions/0/reason").asText())
          .isEqualTo("Deactivated");
      assertThat(status.at("/schedulingStats/evictions/0/underlyingCause").asText()).isEmpty();
      assertThat(status.at("/schedulingStats/evictions/0/count").asInt()).isEqualTo(1);
      assertThat(patch(lifecycleAction).eventSpec())
          .extracting(EventSpec::reason)
          .containsExactly("EvictedDueToDeactivated");
    }

    @Test
    void ofWhatWaitsKeepsItOutAndTellsNobodyOfAnEviction() {
      LifecycleAction lifecycleAction = decide(workload().inactive());

      ObjectNode status = patch(lifecycleAction).status();
      assertThat(condition(status, "Evicted")).startsWith("True Deactivated: ");
      assertThat(condition(status, "QuotaReserved")).startsWith("False Deactivated: ");
      assertThat(condition(status, "Admitted")).startsWith("False NoReservation: ");
      assertThat(patch(lifecycleAction).eventSpec()).isEmpty();
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
          .isEqualTo(LifecycleAction.NOTHING);
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
      LifecycleAction lifecycleAction =
          decide(
              workload()
                  .admitted()
                  .condition("DeactivationTarget", "True", "RequeuingLimitExceeded", "5 times"));
      assertThat(lifecycleAction.action()).get().isInstanceOf(LifecycleAction.Deactivate.class);
    }

    @Test
    void namesWhatIsBehindIt() {
      LifecycleAction lifecycleAction =
          decide(
              workload()
                  .admitted()
                  .inactive()
                  .condition("DeactivationTarget", "True", "RequeuingLimitExceeded", "5 times"));

      ObjectNode status = patch(lifecycleAction).status();
      assertThat(condition(status, "Evicted"))
          .startsWith("True DeactivatedDueToRequeuingLimitExceeded: ")
          .endsWith("5 times");
      assertThat(condition(status, "DeactivationTarget")).isEqualTo("absent");
      assertThat(status.at("/schedulingStats/evictions/0/reason").asText())
          .isEqualTo("Deactivated");
      assertThat(status.at("/schedulingStats/evictions/0/underlyingCause").asText())
          .isEqualTo("RequeuingLimitExceeded");
      assertThat(patch(lifecycleAction).eventSpec())
          .extracting(EventSpec::reason)
          .containsExactly("EvictedDueToDeactivatedDueToRequeuingLimitExceeded");
    }

    /**
     * Scheduling semantics, section 18: a job is kept since its deactivation. The job of one with
     * quota stops since it was evicted first.
     */
    @Test
    void ofWhatWaitsSinceAnEarlierEvictionIsAnEvictionOfItsOwnTime() {
      GivenWorkload waiting =
          workload()
              .inactive()
              .condition("Evicted", "True", "Preempted", "for another")
              .condition("DeactivationTarget", "True", "AdmissionCheck", "no");
      GivenWorkload stopping =
          workload()
              .admitted()
              .inactive()
              .condition("Evicted", "True", "Preempted", "for another")
              .condition("DeactivationTarget", "True", "AdmissionCheck", "no");

      assertThat(evictedAt(status(waiting))).isEqualTo(NOW.toString());
      assertThat(evictedAt(status(stopping))).isEqualTo(GivenWorkload.SINCE.toString());
    }

    /** Scheduling semantics, section 18: the operator deactivated it, and later its owner did. */
    @ParameterizedTest
    @CsvSource({"PendingEvaluation", "WaitingForQuota", "OnHold", "AdmissionGated"})
    void ofWhatWasActiveSinceTheOneBeforeIsAnEvictionOfItsOwn(String waited) {
      ObjectNode status =
          status(
              workload()
                  .inactive()
                  .condition("Evicted", "True", "DeactivatedDueToRequeuingLimitExceeded", "often")
                  .condition("Requeued", "True", "Reactivated", "")
                  .condition("Admitted", "False", "NoReservation", "")
                  .condition("QuotaReserved", "False", waited, ""));

      assertThat(condition(status, "Evicted")).startsWith("True Deactivated: ");
      assertThat(condition(status, "QuotaReserved")).startsWith("False Deactivated: ");
    }

    private static String evictedAt(ObjectNode status) {
      for (JsonNode each : status.path("conditions")) {
        if (each.path("type").asText().equals("Evicted")) {
          assertThat(each.path("reason").asText()).isEqualTo("DeactivatedDueToAdmissionCheck");
          return each.path("lastTransitionTime").asText();
        }
      }
      return "absent";
    }

    /** Changes of 0.20, section 2: whatever the Workload was deactivated for. */
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
    void thatAreDrainedSendBackWhatRuns(QueueState local, QueueState cluster, String reason) {
      LifecycleAction lifecycleAction =
          decide(workload().admitted(), new QueueLookup(local, cluster));

      ObjectNode status = patch(lifecycleAction).status();
      assertThat(condition(status, "Evicted")).startsWith("True " + reason + ": ");
      assertThat(condition(status, "QuotaReserved")).startsWith("True");
      assertThat(patch(lifecycleAction).eventSpec())
          .extracting(EventSpec::reason)
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
    void takeBackWhatIsNotAdmittedYet(QueueState local, QueueState cluster, String reason) {
      ObjectNode status =
          patch(decide(waitingForACheck(), new QueueLookup(local, cluster))).status();

      assertThat(condition(status, "QuotaReserved")).startsWith("False " + reason + ": ");
      assertThat(condition(status, "Admitted")).startsWith("False NoReservation: ");
      assertThat(status.get("admission").isNull()).isTrue();
    }

    private GivenWorkload waitingForACheck() {
      return workload()
          .reserved()
          .status(
              "admissionChecks: [{name: a, state: Pending, message: '', lastTransitionTime:"
                  + " '2026-03-01T10:00:00Z'}]");
    }

    @ParameterizedTest
    @CsvSource({"HELD, OPEN", "MISSING, OPEN", "OPEN, MISSING", "OPEN, TERMINATING"})
    void areLookedAtAfterAdmittedFollowedTheChecks(QueueState local, QueueState cluster) {
      ObjectNode status =
          patch(decide(workload().reserved(), new QueueLookup(local, cluster))).status();

      assertThat(condition(status, "Admitted")).startsWith("True Admitted");
      assertThat(status.has("admission")).isFalse();
      assertThat(decide(workload().admitted(), new QueueLookup(local, cluster)))
          .isEqualTo(LifecycleAction.NOTHING);
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
      for (QueueState standing : Set.of(QueueState.HELD, QueueState.DRAINED)) {
        assertThat(decide(sentBack, new QueueLookup(standing, standing)))
            .isEqualTo(LifecycleAction.NOTHING);
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
      LifecycleAction lifecycleAction = decide(backingOffUntil(until, 1));
      assertThat(lifecycleAction.action()).isEmpty();
      assertThat(lifecycleAction.reconcileAt()).contains(until);
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

  /** docs/devices.md#unresolved. */
  @Nested
  class UnresolvedDevices {

    private final QueueLookup unresolved = OPEN.withUnresolvedDevices(Optional.of("no template"));

    @Test
    void keepAWorkloadOut() {
      ObjectNode status = patch(decide(workload(), unresolved)).status();
      assertThat(condition(status, "QuotaReserved"))
          .startsWith("False DRAResourcesUnresolved: no template");
      assertThat(condition(status, "Requeued"))
          .startsWith("False DRAResourcesUnresolved: no template");
    }

    @Test
    void areNotWrittenAgain() {
      GivenWorkload keptOut =
          workload()
              .condition("QuotaReserved", "False", "DRAResourcesUnresolved", "no template")
              .condition("Admitted", "False", "NoReservation", "The workload has no reservation")
              .condition("Requeued", "False", "DRAResourcesUnresolved", "no template");
      assertThat(decide(keptOut, unresolved)).isEqualTo(LifecycleAction.NOTHING);
    }

    /** Changes of 0.20, section 4: DRAResourcesResolved. */
    @Test
    void letItQueueWhenTheyAreResolved() {
      GivenWorkload keptOut =
          workload()
              .condition("QuotaReserved", "False", "DRAResourcesUnresolved", "no template")
              .condition("Requeued", "False", "DRAResourcesUnresolved", "no template");
      ObjectNode status = patch(decide(keptOut, OPEN)).status();
      assertThat(condition(status, "QuotaReserved")).startsWith("False PendingEvaluation: ");
      assertThat(condition(status, "Requeued")).startsWith("True DRAResourcesResolved: ");
    }

    @Test
    void leaveABackOffAsItIs() {
      GivenWorkload keptOut = workload().condition("Requeued", "False", "PodsReadyTimeout", "late");
      GivenWorkload waits =
          keptOut.status("requeueState: {count: 1, requeueAt: '2099-01-01T00:00:00Z'}");
      ObjectNode status = patch(decide(waits, unresolved)).status();
      assertThat(condition(status, "QuotaReserved")).startsWith("False DRAResourcesUnresolved: ");
      assertThat(condition(status, "Requeued")).startsWith("False PodsReadyTimeout: ");
    }
  }

  /** docs/queueing-policies.md#ageing. */
  @Nested
  class Ageing {

    private final QueueLookup aging =
        new QueueLookup(
            QueueState.OPEN,
            QueueState.OPEN,
            Optional.empty(),
            StartRules.of(Map.of("sluice.dev/priority-aging", "10m,1,100")),
            Optional.empty(),
            false,
            Map.of());

    private LifecycleAction waiting(GivenWorkload workload) {
      return waiting(workload, aging);
    }

    private static LifecycleAction waiting(GivenWorkload workload, QueueLookup lookup) {
      workload.condition("Admitted", "False", "NoReservation", "The workload has no reservation");
      return decide(workload, lookup);
    }

    private static GivenWorkload pending(String reason, String message) {
      return workload().condition("QuotaReserved", "False", reason, message);
    }

    @Test
    void isOfWhoCompetes() {
      assertThat(waiting(pending("WaitingForQuota", "no room")).action())
          .get()
          .isInstanceOf(Annotate.class);
    }

    @Test
    void isNotOfWhoIsKeptOut() {
      String gate = "example.com/a";
      assertThat(waiting(pending("AdmissionGated", "Admission is gated by: " + gate).gatedBy(gate)))
          .as("gated")
          .isEqualTo(LifecycleAction.NOTHING);
      assertThat(waiting(pending("OnHold", "held")))
          .as("on hold")
          .isEqualTo(LifecycleAction.NOTHING);
      assertThat(waiting(pending("Deactivated", "off").inactive()).action())
          .as("inactive")
          .get()
          .isNotInstanceOf(Annotate.class);
      assertThat(
              waiting(
                  pending("DRAResourcesUnresolved", "no template")
                      .condition("Requeued", "False", "DRAResourcesUnresolved", "no template"),
                  aging.withUnresolvedDevices(Optional.of("no template"))))
          .as("devices")
          .isEqualTo(LifecycleAction.NOTHING);
      assertThat(
              waiting(
                  pending("Misconfigured", "The workload names no LocalQueue")
                      .spec("queueName: ''")))
          .as("without a queue")
          .isEqualTo(LifecycleAction.NOTHING);
    }
  }

  @Nested
  class Gates {

    /** docs/workload-lifecycle.md: gate AdmissionGatedBy. */
    @Test
    void keepNothingOutWithoutTheFeatureGate() {
      GivenWorkload gated = workload().gatedBy("example.com/a");
      LifecycleOptions without = LifecycleOptions.WITHOUT_LIMITS.withAdmissionGates(false);
      assertThat(LifecyclePolicy.decide(gated.get(), OPEN, without, NOW))
          .isEqualTo(LifecycleAction.NOTHING);
      GivenWorkload keptOut = gated.condition("QuotaReserved", "False", "AdmissionGated", "");
      assertThat(
              condition(
                  patch(LifecyclePolicy.decide(keptOut.get(), OPEN, without, NOW)).status(),
                  "QuotaReserved"))
          .startsWith("False PendingEvaluation: ");
    }

    @Test
    void keepAWorkloadOut() {
      LifecycleAction lifecycleAction = decide(workload().gatedBy("example.com/a,example.com/b"));

      ObjectNode status = patch(lifecycleAction).status();
      assertThat(condition(status, "QuotaReserved"))
          .startsWith("False AdmissionGated: ")
          .contains("example.com/a,example.com/b");
      assertThat(patch(lifecycleAction).eventSpec())
          .extracting(EventSpec::reason)
          .containsExactly("AdmissionGated");
    }

    @ParameterizedTest
    @CsvSource({
      "MISSING, MISSING, Misconfigured",
      "HELD, OPEN, Suspended",
      "DRAINED, MISSING, Suspended",
      "OPEN, MISSING, Misconfigured",
      "OPEN, DRAINED, Suspended",
      "OPEN, HELD, Suspended",
      "OPEN, TERMINATING, Suspended",
      "OPEN, OPEN, AdmissionGated",
      "TERMINATING, OPEN, AdmissionGated"
    })
    void comeAfterTheStateOfTheQueues(QueueState local, QueueState cluster, String reason) {
      LifecycleAction lifecycleAction =
          decide(workload().gatedBy("example.com/a"), new QueueLookup(local, cluster));

      assertThat(condition(patch(lifecycleAction).status(), "QuotaReserved"))
          .startsWith("False " + reason + ": ");
      assertThat(patch(lifecycleAction).eventSpec())
          .hasSize(reason.equals("AdmissionGated") ? 1 : 0);
    }

    @Test
    void areToldOnceAlsoWhenTheirListShrinks() {
      GivenWorkload gated =
          workload()
              .gatedBy("example.com/b")
              .condition("QuotaReserved", "False", "AdmissionGated", "Admission is gated by: a,b")
              .condition("Admitted", "False", "NoReservation", "");
      assertThat(patch(decide(gated)).eventSpec()).isEmpty();
    }

    @Test
    void letItQueueOnceTheyAreCleared() {
      LifecycleAction lifecycleAction =
          decide(
              workload()
                  .condition("QuotaReserved", "False", "AdmissionGated", "a")
                  .condition("Admitted", "False", "NoReservation", ""));
      assertThat(condition(patch(lifecycleAction).status(), "QuotaReserved"))
          .startsWith("False PendingEvaluation: ");
      assertThat(patch(lifecycleAction).eventSpec())
          .extracting(EventSpec::reason)
          .containsExactly("AdmissionGateCleared");
    }

    @Test
    void doNothingToWhatHoldsQuota() {
      assertThat(decide(workload().admitted().gatedBy("example.com/a")))
          .isEqualTo(LifecycleAction.NOTHING);
    }
  }

  @Nested
  class Admitted {

    @Test
    void followsAReservationThatSomebodyElseMade() {
      LifecycleAction lifecycleAction = decide(workload().reserved());
      assertThat(condition(patch(lifecycleAction).status(), "Admitted"))
          .startsWith("True Admitted: ");
      assertThat(patch(lifecycleAction).eventSpec())
          .extracting(EventSpec::reason)
          .containsExactly("Admitted");
    }

    @Test
    void waitsForChecks() {
      GivenWorkload waiting =
          workload()
              .reserved()
              .status("admissionChecks: [{name: check, state: Pending, message: ''}]");
      ObjectNode status = status(waiting);
      assertThat(condition(status, "Admitted")).startsWith("False UnsatisfiedAdmissionChecks: ");
      assertThat(decide(waiting.status(status.toString()))).isEqualTo(LifecycleAction.NOTHING);
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
      LifecycleAction lifecycleAction =
          decide(
              workload()
                  .admitted()
                  .spec("maximumExecutionTimeSeconds: 100")
                  .status("accumulatedPastExecutionTimeSeconds: 30"));
      assertThat(lifecycleAction.action()).isEmpty();
      assertThat(lifecycleAction.reconcileAt()).contains(SINCE.plusSeconds(70));
    }

    @Test
    void endsIt() {
      LifecycleAction lifecycleAction =
          decide(
              workload()
                  .admitted()
                  .spec("maximumExecutionTimeSeconds: 60")
                  .status("accumulatedPastExecutionTimeSeconds: 1"));
      ObjectNode status = patch(lifecycleAction).status();
      assertThat(condition(status, "DeactivationTarget"))
          .startsWith("True MaximumExecutionTimeExceeded: ");
      assertThat(status.get("accumulatedPastExecutionTimeSeconds").isNull()).isTrue();
      assertThat(patch(lifecycleAction).eventSpec())
          .containsExactly(
              new EventSpec(
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
