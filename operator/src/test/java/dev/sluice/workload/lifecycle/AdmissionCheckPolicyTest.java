package dev.sluice.workload.lifecycle;

import static dev.sluice.workload.lifecycle.GivenWorkload.SINCE;
import static dev.sluice.workload.lifecycle.GivenWorkload.workload;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.workload.lifecycle.LifecycleAction.EventSpec;
import dev.sluice.workload.lifecycle.LifecycleAction.PatchStatus;
import dev.sluice.workload.lifecycle.QueueLookup.QueueState;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What admission checks do to a Workload (docs/workload-semantics.md#admission-checks). */
class AdmissionCheckPolicyTest {

  private static final Instant NOW = SINCE.plusSeconds(60);

  private static LifecycleAction decide(GivenWorkload workload, String... required) {
    return decide(workload, LifecycleOptions.WITHOUT_LIMITS, required);
  }

  private static LifecycleAction decideWithoutStopping(GivenWorkload workload) {
    return decide(workload, LifecycleOptions.WITHOUT_LIMITS.evicting(none -> false), "a", "b");
  }

  private static LifecycleAction decide(
      GivenWorkload workload, LifecycleOptions options, String... required) {
    return LifecyclePolicy.decide(
        workload.get(),
        new QueueLookup(
            QueueState.OPEN, QueueState.OPEN, Optional.of(new TreeSet<>(List.of(required)))),
        options,
        NOW);
  }

  private static ObjectNode status(LifecycleAction lifecycleAction) {
    assertThat(lifecycleAction.action()).get().isInstanceOf(PatchStatus.class);
    return ((PatchStatus) lifecycleAction.action().orElseThrow()).status();
  }

  private static List<String> news(LifecycleAction lifecycleAction) {
    return ((PatchStatus) lifecycleAction.action().orElseThrow())
        .eventSpec().stream().map(EventSpec::reason).toList();
  }

  private static String condition(JsonNode status, String type) {
    for (JsonNode condition : status.path("conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("status").asText() + " " + condition.path("reason").asText();
      }
    }
    return "absent";
  }

  private static String check(String name, String state, String more) {
    return "{name: %s, state: %s, message: 'because', lastTransitionTime: '%s'%s}"
        .formatted(name, state, SINCE, more);
  }

  private static GivenWorkload with(GivenWorkload workload, String... checks) {
    return workload.status("admissionChecks: [" + String.join(", ", checks) + "]");
  }

  @Test
  void theListFollowsTheQueueWhileItWaits() {
    ObjectNode status =
        status(
            decide(
                with(
                    workload(), check("b", "Ready", ", retryCount: 2"), check("gone", "Ready", "")),
                "a",
                "b"));
    assertThat(status.get("admissionChecks").toString())
        .isEqualTo(
            """
            [{"name":"a","state":"Pending","message":"","lastTransitionTime":"2026-03-01T10:01:00Z"},\
            {"name":"b","state":"Ready","message":"because",\
            "lastTransitionTime":"2026-03-01T10:00:00Z","retryCount":2}]\
            """);
    assertThat(decide(with(workload(), check("b", "Pending", "")), "b"))
        .isEqualTo(LifecycleAction.NOTHING);
  }

  /** Else it would stay out of the queue: nobody serves a check without quota. */
  @Test
  void aRetryThatCameAfterTheQuotaWasGivenBackBeginsAnewAfterItsPause() {
    LifecycleAction lifecycleAction =
        decide(
            with(workload(), check("a", "Retry", ", requeueAfterSeconds: 300, retryCount: 1")),
            "a");

    ObjectNode status = status(lifecycleAction);
    assertThat(status.at("/requeueState/requeueAt").asText()).isEqualTo("2026-03-01T10:05:00Z");
    assertThat(status.get("admissionChecks").toString())
        .isEqualTo(
            """
            [{"name":"a","state":"Pending","message":"Reset to Pending after eviction. Previously: Retry",\
            "lastTransitionTime":"2026-03-01T10:01:00Z","requeueAfterSeconds":300,"retryCount":2}]\
            """);
    assertThat(
            status(decide(with(workload().gatedBy("example.com/x"), check("a", "Retry", "")), "b"))
                .at("/admissionChecks/0/state")
                .asText())
        .isEqualTo("Pending");
  }

  @Test
  void aRejectionWithoutQuotaDeactivatesToo() {
    LifecycleAction rejected = decide(with(workload(), check("a", "Rejected", "")), "a");

    assertThat(condition(status(rejected), "DeactivationTarget")).isEqualTo("True AdmissionCheck");
    assertThat(news(rejected)).containsExactly("AdmissionCheckRejected");
    ObjectNode dropped = status(decide(with(workload(), check("a", "Rejected", "")), "b"));
    assertThat(condition(dropped, "DeactivationTarget")).isEqualTo("absent");
    assertThat(dropped.at("/admissionChecks/0/name").asText()).isEqualTo("b");
  }

  @Test
  void anotherDeactivationIsAnotherEvictionWhileTheConditionIsStillThatOfTheLast() {
    GivenWorkload again =
        with(
            workload()
                .inactive()
                .condition("QuotaReserved", "False", "PendingEvaluation", "")
                .condition("Evicted", "True", "Deactivated", "")
                .condition("DeactivationTarget", "True", "AdmissionCheck", ""),
            check("a", "Rejected", ""));

    ObjectNode status = status(decide(again, "a"));

    assertThat(condition(status, "Evicted")).isEqualTo("True DeactivatedDueToAdmissionCheck");
    assertThat(condition(status, "DeactivationTarget")).isEqualTo("absent");
    assertThat(status.at("/admissionChecks/0/state").asText()).isEqualTo("Pending");
  }

  @Test
  void whatWasRejectedBeforeItWasDeactivatedDoesNotCountForTheNextTry() {
    GivenWorkload deactivated =
        workload()
            .condition("QuotaReserved", "False", "Deactivated", "")
            .condition("Admitted", "False", "NoReservation", "The workload has no reservation")
            .condition("Evicted", "True", "DeactivatedDueToAdmissionCheck", "");
    for (GivenWorkload reactivated :
        List.of(
            with(deactivated, check("a", "Rejected", "")),
            with(
                workload().condition("Requeued", "False", "DeactivatedDueToAdmissionCheck", ""),
                check("a", "Rejected", "")))) {
      ObjectNode status = status(decide(reactivated, "a"));
      assertThat(condition(status, "DeactivationTarget")).isEqualTo("absent");
      assertThat(status.at("/admissionChecks/0/state").asText()).isEqualTo("Pending");
    }
    ObjectNode inactive =
        status(decide(with(deactivated.inactive(), check("a", "Rejected", "")), "a"));
    assertThat(condition(inactive, "Evicted")).isEqualTo("absent");
    assertThat(inactive.at("/admissionChecks/0/state").asText()).isEqualTo("Pending");
  }

  @Test
  void theListOfANewWorkloadIsLeftToTheWriteOfItsQuotaForAMoment() {
    Instant created = NOW.minusSeconds(2);
    Instant due = created.plusSeconds(5);
    assertThat(decide(workload().created(created), "a"))
        .isEqualTo(new LifecycleAction(Optional.empty(), Optional.of(due)));
    assertThat(status(decide(workload().created(NOW.minusSeconds(5)), "a")))
        .isEqualTo(status(decide(workload(), "a")));
  }

  @Test
  void theListOfANewWorkloadIsWrittenOnceItWaits() {
    GivenWorkload waits =
        workload().created(NOW).condition("QuotaReserved", "False", "WaitingForQuota", "");
    assertThat(status(decide(waits, "a")).get("admissionChecks")).hasSize(1);
  }

  @Test
  void theListIsWrittenAtOnceIfTheApiServersClockIsFarAhead() {
    assertThat(status(decide(workload().created(NOW.plusSeconds(60)), "a")).get("admissionChecks"))
        .hasSize(1);
  }

  @Test
  void aGatedWorkloadsListIsLeftAlone() {
    assertThat(status(decide(workload().gatedBy("example.com/x"), "a")).has("admissionChecks"))
        .isFalse();
  }

  @Test
  void aReservationWithoutAllChecksReadyIsNotAdmitted() {
    LifecycleAction lifecycleAction =
        decide(with(workload().reserved(), check("a", "Ready", "")), "a", "b");
    ObjectNode status = status(lifecycleAction);
    assertThat(condition(status, "Admitted")).isEqualTo("False UnsatisfiedAdmissionChecks");
    assertThat(status.get("admissionChecks")).hasSize(2);
    assertThat(status.get("admissionChecks").get(1).get("state").asText()).isEqualTo("Pending");
    assertThat(news(lifecycleAction)).isEmpty();
  }

  private static final String[] NINE = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};

  private static String[] ready(int count) {
    return Arrays.stream(NINE)
        .limit(count)
        .map(name -> check(name, "Ready", ""))
        .toArray(String[]::new);
  }

  /** One that isn't in the list is asked by nobody. */
  @Test
  void aReservationWithMoreChecksThanThereIsRoomForIsGivenBack() {
    ObjectNode status = status(decide(with(workload().reserved(), ready(8)), NINE));

    assertThat(condition(status, "QuotaReserved")).isEqualTo("False Misconfigured");
    assertThat(condition(status, "Admitted")).isEqualTo("False NoReservation");
    assertThat(status.toString())
        .contains(
            "It needs 9 admission checks, and its status has room for 8: a, b, c, d, e, f, g, h, i")
        .doesNotContain("admissionChecks");
  }

  @Test
  void theListStaysWhereThereIsNoRoomForTheNewOne() {
    assertThat(decide(with(workload(), ready(8)), NINE)).isEqualTo(LifecycleAction.NOTHING);
    assertThat(decide(with(workload().admitted(), ready(8)), NINE))
        .isEqualTo(LifecycleAction.NOTHING);
  }

  @Test
  void itIsAdmittedWhenTheLastIsReadyAndKeepsWhatTheySetForItsPods() {
    LifecycleAction lifecycleAction =
        decide(
            with(
                workload().reserved(),
                check("a", "Ready", ", podSetUpdates: [{name: main, labels: {x: y}}]"),
                check("b", "Ready", "")),
            "a",
            "b");
    assertThat(condition(status(lifecycleAction), "Admitted")).isEqualTo("True Admitted");
    assertThat(status(lifecycleAction).has("admissionChecks")).isFalse();
    assertThat(news(lifecycleAction)).containsExactly("Admitted");
  }

  @Test
  void whatIsNotRequiredAnyMoreDoesNotHoldItUp() {
    ObjectNode status = status(decide(with(workload().reserved(), check("a", "Pending", ""))));
    assertThat(condition(status, "Admitted")).isEqualTo("True Admitted");
    assertThat(status.get("admissionChecks")).isEmpty();
  }

  @Test
  void aNewCheckOfTheQueueDoesNotTakeBackWhatRuns() {
    ObjectNode status = status(decide(workload().admitted(), "a"));
    assertThat(condition(status, "Admitted")).isEqualTo("absent");
    assertThat(status.get("admissionChecks")).hasSize(1);
  }

  /** Changes of 0.20, section 2: the pause begins with the eviction and doesn't delay it. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void retrySendsItBackForAsLongAsTheCheckAsks(boolean admitted) {
    GivenWorkload given = admitted ? workload().admitted() : workload().reserved();
    LifecycleAction lifecycleAction =
        decide(
            with(
                given.status("requeueState: {count: 2}"),
                check("a", "Retry", ", requeueAfterSeconds: 90, retryCount: 1"),
                check("b", "Ready", ", retryCount: 7, podSetUpdates: [{name: main}]"),
                check("c", "Pending", ", retryCount: 4")),
            "a",
            "b",
            "c");

    ObjectNode status = status(lifecycleAction);
    assertThat(condition(status, "Evicted")).isEqualTo("True AdmissionCheck");
    assertThat(status.at("/requeueState").toString())
        .isEqualTo("{\"requeueAt\":\"2026-03-01T10:01:30Z\"}");
    assertThat(status.get("admissionChecks").toString())
        .isEqualTo(
            """
            [{"name":"a","state":"Pending",\
            "message":"Reset to Pending after eviction. Previously: Retry",\
            "lastTransitionTime":"2026-03-01T10:01:00Z","requeueAfterSeconds":90,"retryCount":2},\
            {"name":"b","state":"Pending",\
            "message":"Reset to Pending after eviction. Previously: Ready",\
            "lastTransitionTime":"2026-03-01T10:01:00Z"},\
            {"name":"c","state":"Pending","message":"because",\
            "lastTransitionTime":"2026-03-01T10:00:00Z","retryCount":4}]\
            """);
    assertThat(status.at("/schedulingStats/evictions/0/reason").asText())
        .isEqualTo("AdmissionCheck");
    assertThat(news(lifecycleAction)).containsExactly("EvictedDueToAdmissionCheck");
  }

  @Test
  void aBackOffOnlyMovesLater() {
    GivenWorkload later =
        with(
            workload()
                .reserved()
                .status("requeueState: {count: 1, requeueAt: '2026-03-01T12:00:00Z'}"),
            check("a", "Retry", ", requeueAfterSeconds: 90"));
    assertThat(status(decide(later, "a")).has("requeueState")).isFalse();
  }

  @Test
  void withoutABackOffItQueuesAgainAtOnce() {
    assertThat(
            status(decide(with(workload().reserved(), check("a", "Retry", "")), "a"))
                .has("requeueState"))
        .isFalse();
    ObjectNode status =
        status(
            decide(
                with(
                    workload()
                        .condition("QuotaReserved", "False", "PendingEvaluation", "")
                        .condition("Admitted", "False", "NoReservation", "")
                        .condition("Requeued", "False", "AdmissionCheck", ""),
                    check("a", "Pending", ", requeueAfterSeconds: 90")),
                "a"));
    assertThat(condition(status, "Requeued")).isEqualTo("True BackoffFinished");
  }

  /** Changes of 0.20, section 2. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void rejectionDeactivatesIt(boolean admitted) {
    GivenWorkload given = admitted ? workload().admitted() : workload().reserved();
    LifecycleAction lifecycleAction =
        decide(with(given, check("a", "Rejected", ""), check("b", "Retry", "")), "a");

    assertThat(condition(status(lifecycleAction), "DeactivationTarget"))
        .isEqualTo("True AdmissionCheck");
    assertThat(news(lifecycleAction)).containsExactly("AdmissionCheckRejected");

    LifecycleAction next =
        decide(
            with(given, check("a", "Rejected", ""))
                .condition("DeactivationTarget", "True", "AdmissionCheck", "no")
                .inactive());
    assertThat(condition(status(next), "Evicted")).isEqualTo("True DeactivatedDueToAdmissionCheck");
    assertThat(status(next).at("/admissionChecks/0/state").asText()).isEqualTo("Pending");
  }

  /**
   * Changes of 0.20, section 2, as far as it can be kept: what runs and has nobody here who stops
   * it runs on, and its owner is told once (docs/limits.md).
   */
  @Test
  void rejectionOfWhatNobodyStopsIsToldOnce() {
    GivenWorkload given =
        with(workload().admitted(), check("a", "Rejected", ""), check("b", "Retry", ""));
    LifecycleAction told = decideWithoutStopping(given);

    assertThat(news(told)).containsExactly("AdmissionCheckRejected");
    assertThat(((PatchStatus) told.action().orElseThrow()).eventSpec().getFirst())
        .isEqualTo(
            new EventSpec(
                true,
                "AdmissionCheckRejected",
                "Admission checks rejected the workload: a (because); it runs on, as nobody here"
                    + " stops it"));
    assertThat(condition(status(told), "Evicted")).isEqualTo("absent");
    assertThat(condition(status(told), "DeactivationTarget")).isEqualTo("True AdmissionCheck");
    given.condition("DeactivationTarget", "True", "AdmissionCheck", "no");
    assertThat(decideWithoutStopping(given)).isEqualTo(LifecycleAction.NOTHING);
    assertThat(
            decideWithoutStopping(
                with(workload().admitted(), check("a", "Retry", ""), check("b", "Ready", ""))))
        .isEqualTo(LifecycleAction.NOTHING);
  }

  private static GivenWorkload delayed(String delay, String cluster) {
    return with(workload().reserved(), check("a", "Ready", ""))
        .status(
            """
            clusterName: '%s'
            admission:
              clusterQueue: research
              podSetAssignments:
              - {name: main, count: 1, flavors: {cpu: spot}, resourceUsage: {cpu: "1"}, delayedTopologyRequest: %s}
            """
                .formatted(cluster, delay));
  }

  @Test
  void aWorkloadWhosePlacesAreDelayedWaitsForThem() {
    ObjectNode waiting = status(decide(delayed("Pending", ""), "a"));
    assertThat(condition(waiting, "Admitted")).isEqualTo("False PendingDelayedTopologyRequests");
    assertThat(condition(status(decide(delayed("Ready", ""), "a")), "Admitted"))
        .isEqualTo("True Admitted");
  }

  @Test
  void aWorkloadThatAnotherClusterPlacesIsAdmittedWithoutPlaces() {
    ObjectNode admitted = status(decide(delayed("Pending", "worker1"), "a"));
    assertThat(condition(admitted, "Admitted")).isEqualTo("True Admitted");
    assertThat(admitted.at("/admission/podSetAssignments"))
        .hasToString(
            "[{\"name\":\"main\",\"flavors\":{\"cpu\":\"spot\"},\"resourceUsage\":{\"cpu\":\"1\"},"
                + "\"count\":1,\"delayedTopologyRequest\":\"Ready\"}]");
  }
}
