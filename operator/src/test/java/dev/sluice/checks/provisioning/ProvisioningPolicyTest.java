package dev.sluice.checks.provisioning;

import static dev.sluice.checks.provisioning.GivenProvisioning.condition;
import static dev.sluice.checks.provisioning.GivenProvisioning.request;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ParameterResolution;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision.CreateRequest;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision.DeleteRequest;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision.Keep;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision.NameTaken;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision.SetState;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.workload.record.CachedWorkload.PodSetUpdate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProvisioningPolicyTest {

  private static final String NAME = "wl-check-1";
  private static final String EARLIER = "it was made for an earlier reservation";

  private final GivenProvisioning given = new GivenProvisioning();
  private String config = "";
  private boolean served = true;
  private boolean replaces = true;

  private ProvisioningDecision decide(Optional<CachedRequest> request) {
    return ProvisioningPolicy.decide(
        given.workload(),
        given.state(),
        new ProvisioningPolicy.Input(
            new ParameterResolution(Optional.of(GivenProvisioning.config(config)), ""),
            served,
            replaces,
            request));
  }

  private SetState state(String status) {
    return (SetState) decide(Optional.of(request(NAME, status)));
  }

  @Test
  void aRequestIsCreatedWhoseNameHasTheNumberOfTheAttempt() {
    assertThat(decide(Optional.empty())).isEqualTo(new CreateRequest(NAME));
    given.check("Pending", 2);
    assertThat(decide(Optional.empty())).isEqualTo(new CreateRequest("wl-check-3"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Retry", "Rejected"})
  void aStateThatSendsTheWorkloadBackStays(String state) {
    given.check(state, 0);
    assertThat(decide(Optional.empty())).isEqualTo(new Keep());
    assertThat(decide(Optional.of(request(NAME, condition("Provisioned", "")))))
        .isEqualTo(new Keep());
  }

  @Test
  void withoutTheKindOrTheParametersTheCheckWaits() {
    served = false;
    assertThat(decide(Optional.empty()))
        .isEqualTo(SetState.of("Pending", ProvisioningPolicy.NOT_SERVED));

    ProvisioningDecision decision =
        ProvisioningPolicy.decide(
            given.workload(),
            given.state(),
            new ProvisioningPolicy.Input(
                new ParameterResolution(Optional.empty(), "no such config"),
                true,
                true,
                Optional.of(request(NAME, condition("Provisioned", "")))));
    assertThat(decision)
        .isEqualTo(
            SetState.of("Pending", "The parameters of the check can't be used: no such config"));
  }

  @Test
  void podsThatNeedNoNodesPassAtOnce() {
    config = "managedResources: [nvidia.com/gpu]";
    assertThat(decide(Optional.empty()))
        .isEqualTo(SetState.of("Ready", "No pod set needs a ProvisioningRequest"));
    given.with("/status/admission/podSetAssignments/0/count", "0");
    config = "";
    assertThat(decide(Optional.empty()))
        .isEqualTo(SetState.of("Ready", "No pod set needs a ProvisioningRequest"));
  }

  @ParameterizedTest
  @CsvSource({
    "requests, containers, true",
    "limits, containers, true",
    "requests, initContainers, true",
    "requests, none, false"
  })
  void podSetsThatRequestAManagedResourceNeedNodes(String how, String where, boolean needs) {
    config = "managedResources: [memory, nvidia.com/gpu]";
    given.with(
        "/spec/podSets/0/template/spec/" + where,
        "[{name: c, resources: {%s: {nvidia.com/gpu: 1}}}]".formatted(how));
    assertThat(decide(Optional.empty()) instanceof CreateRequest).isEqualTo(needs);
  }

  @Test
  void aRequestOfSomebodyElseIsNotTakenOver() {
    ObjectNode request = GivenProvisioning.requestJson(NAME, condition("Provisioned", ""));
    request.withObject("/metadata").remove("ownerReferences");
    assertThat(decide(Optional.of(CachedRequest.of(request)))).isInstanceOf(NameTaken.class);
    given.check("Ready", 0);
    assertThat(decide(Optional.of(CachedRequest.of(request)))).isEqualTo(new Keep());
  }

  @Test
  void aRequestWithoutTheLabelOrOfAnotherWorkloadIsSomebodyElses() {
    ObjectNode unlabelled = GivenProvisioning.requestJson(NAME, "{}");
    unlabelled.withObject("/metadata").remove("labels");
    ObjectNode other = GivenProvisioning.requestJson(NAME, "{}");
    ((ObjectNode) other.at("/metadata/ownerReferences/0")).put("uid", "uid-2").put("name", "wl-2");
    for (ObjectNode request : List.of(unlabelled, other)) {
      assertThat(decide(Optional.of(CachedRequest.of(request)))).isInstanceOf(NameTaken.class);
    }
  }

  @Test
  void aRequestOfAnEarlierWorkloadOfThisNameIsWaitedFor() {
    ObjectNode earlier = GivenProvisioning.requestJson(NAME, condition("Provisioned", ""));
    ((ObjectNode) earlier.at("/metadata/ownerReferences/0")).put("uid", "uid-of-an-earlier-one");
    assertThat(((SetState) decide(Optional.of(CachedRequest.of(earlier)))).state())
        .isEqualTo("Pending");
  }

  @Test
  void aRequestOfAnEarlierReservationIsReplaced() {
    given.with("/status/conditions/0/lastTransitionTime", "'2026-03-01T10:05:00Z'");
    CachedRequest old = request(NAME, condition("Provisioned", ""));
    assertThat(decide(Optional.of(old))).isEqualTo(new DeleteRequest(old, EARLIER));

    replaces = false;
    assertThat(((SetState) decide(Optional.of(old))).state()).isEqualTo("Ready");

    replaces = true;
    ObjectNode unmarked = GivenProvisioning.requestJson(NAME, condition("Provisioned", ""));
    unmarked.withObject("/metadata").remove("annotations");
    assertThat(((SetState) decide(Optional.of(CachedRequest.of(unmarked)))).state())
        .isEqualTo("Ready");
  }

  /** The request as it was created for what the Workload and the configuration say now. */
  private CachedRequest created(String status) throws StartConflictException {
    ObjectNode object =
        RequestManifest.of(
                given.workload(),
                given.json(),
                NAME,
                GivenProvisioning.config(config),
                flavor -> Optional.empty())
            .request();
    object.withObject("/metadata").put("uid", "request-uid");
    object.set("status", GivenProvisioning.yaml(status));
    return CachedRequest.of(object);
  }

  /** A queue that is stopped for a moment takes the quota; the autoscaler goes on meanwhile. */
  @Test
  void aRequestServesTheNextReservationUnlessTheWorkloadWasEvicted() throws StartConflictException {
    CachedRequest request = created(condition("Provisioned", ""));
    given.with("/status/conditions/0/lastTransitionTime", "'2026-03-01T10:05:00Z'");
    assertThat(((SetState) decide(Optional.of(request))).state()).isEqualTo("Ready");

    given.with("/status/admission/podSetAssignments/0/flavors/cpu", "reserved");
    assertThat(decide(Optional.of(request)))
        .as("the nodes are of another flavor")
        .isInstanceOf(DeleteRequest.class);
    given.with("/status/admission/podSetAssignments/0/flavors/cpu", "spot");
    given
        .isTrue("Evicted")
        .with("/status/conditions/1/status", "'False'")
        .with("/status/conditions/1/lastTransitionTime", "'2026-03-01T10:05:00Z'");
    assertThat(decide(Optional.of(request))).isEqualTo(new DeleteRequest(request, EARLIER));
  }

  /** The next reservation may be of another flavor, and is admitted if all checks are Ready. */
  @Test
  void aReadyCheckEndsWithTheQuota() {
    CachedRequest request = request(NAME, condition("Provisioned", ""));
    given.check("Ready", 2).with("/status/conditions/0/status", "'False'");
    assertThat(decide(Optional.of(request)))
        .isEqualTo(SetState.of("Pending", "The quota that it was Ready for was taken back"));
    assertThat(decide(Optional.empty()))
        .isEqualTo(SetState.of("Pending", "The quota that it was Ready for was taken back"));

    given.check("Pending", 2);
    assertThat(decide(Optional.of(request))).isEqualTo(new Keep());
    assertThat(decide(Optional.empty())).isEqualTo(new Keep());
  }

  /** Another check waits, and the queue was stopped for a moment meanwhile. */
  @Test
  void aReadyCheckBeginsAnewWhenTheNextReservationNeedsOtherNodes() throws StartConflictException {
    SetState anew =
        SetState.of("Pending", "The nodes of an earlier reservation can't serve this one");
    CachedRequest request = created(condition("Provisioned", ""));
    given
        .check("Ready", 0)
        .with("/status/conditions/0/lastTransitionTime", "'2026-03-01T10:05:00Z'");
    assertThat(decide(Optional.of(request))).as("the same nodes").isEqualTo(new Keep());
    assertThat(decide(Optional.empty())).as("nobody has its nodes").isEqualTo(anew);
    served = false;
    assertThat(decide(Optional.empty())).as("it can't be made").isEqualTo(new Keep());
    served = true;

    given.with("/status/admission/podSetAssignments/0/flavors/cpu", "reserved");
    assertThat(decide(Optional.of(request))).isEqualTo(anew);
    config = "managedResources: [nvidia.com/gpu]";
    assertThat(decide(Optional.of(request))).as("no nodes are needed").isEqualTo(new Keep());
    config = "";
    given.with("/status/admissionChecks/0/lastTransitionTime", "'2026-03-01T10:05:00Z'");
    assertThat(decide(Optional.of(request))).as("of this reservation").isEqualTo(new Keep());
    given
        .with("/status/admissionChecks/0/lastTransitionTime", "'2026-03-01T10:00:00Z'")
        .isTrue("Admitted");
    assertThat(decide(Optional.of(request))).as("its pods run").isEqualTo(new Keep());
  }

  @ParameterizedTest
  @ValueSource(strings = {"parameters: {zone: b}", "provisioningClassName: other"})
  void aRequestIsMadeAnewWhenTheConfigurationChanges(String changed) throws StartConflictException {
    config = "parameters: {zone: a}";
    CachedRequest request = created(condition("Accepted", ""));
    assertThat(((SetState) decide(Optional.of(request))).state()).isEqualTo("Pending");

    config = changed;
    assertThat(decide(Optional.of(request)))
        .isEqualTo(
            new DeleteRequest(request, "its class, its parameters or its pods are others now"));
    given.check("Ready", 0);
    assertThat(decide(Optional.of(request))).as("the nodes are there").isEqualTo(new Keep());
  }

  /** A request that doesn't say what it was made for may be one of Kueue, or somebody else's. */
  @Test
  void aRequestOfAnotherClassIsReplacedWhoeverMadeIt() {
    CachedRequest request = request(NAME, condition("Provisioned", ""));
    assertThat(((SetState) decide(Optional.of(request))).state()).isEqualTo("Ready");
    config = "provisioningClassName: other";
    assertThat(decide(Optional.of(request))).isInstanceOf(DeleteRequest.class);
  }

  @Test
  void aRequestThatIsBeingDeletedIsWaitedFor() {
    ObjectNode request = GivenProvisioning.requestJson(NAME, condition("Provisioned", ""));
    request.withObject("/metadata").put("deletionTimestamp", "2026-03-01T10:00:00Z");
    assertThat(((SetState) decide(Optional.of(CachedRequest.of(request)))).state())
        .isEqualTo("Pending");
  }

  @ParameterizedTest
  @CsvSource({
    "{}, 'ProvisioningRequest \"wl-check-1\" waits for an autoscaler to accept it'",
    "'conditions: [{type: Accepted, status: \"True\"}]',"
        + " 'ProvisioningRequest \"wl-check-1\" is accepted'",
    "'conditions: [{type: Accepted, status: \"True\", message: taken on}]', taken on",
    "'conditions: [{type: Accepted, status: \"True\", message: taken on}, {type: Provisioned,"
        + " status: \"False\", message: in five minutes}]', in five minutes",
    "'conditions: [{type: Failed, status: \"False\"}, {type: BookingExpired, status: Unknown}]',"
        + " 'ProvisioningRequest \"wl-check-1\" waits for an autoscaler to accept it'"
  })
  void whileTheAutoscalerIsAtItTheCheckSaysWhatTheAutoscalerSays(String status, String message) {
    assertThat(state(status)).isEqualTo(SetState.of("Pending", message));
  }

  @ParameterizedTest
  @CsvSource({
    "Failed, 0, 60",
    "BookingExpired, 0, 60",
    "Failed, 1, 120",
    "Failed, 2, 240",
  })
  void aFailureIsTriedAgainAfterAPauseThatDoubles(String condition, int retries, int pause) {
    given.check("Pending", retries);
    String name = "wl-check-" + (retries + 1);
    SetState decision =
        (SetState) decide(Optional.of(request(name, condition(condition, "no nodes"))));
    assertThat(decision.state()).isEqualTo("Retry");
    assertThat(decision.requeueAfterSeconds()).isEqualTo(pause);
    assertThat(decision.message()).contains(name, condition, "no nodes");
  }

  @Test
  void thePauseHasALimitAndNeverOverflows() {
    config = "retryStrategy: {backoffLimitCount: 2147483647, backoffMaxSeconds: 100}";
    given.check("Pending", 2);
    assertThat(state(condition("Failed", "")).requeueAfterSeconds()).isEqualTo(100);
    given.check("Pending", 2147483646);
    assertThat(state(condition("Failed", "")).requeueAfterSeconds()).isEqualTo(100);
    config = "retryStrategy: {backoffLimitCount: 5, backoffBaseSeconds: -1, backoffMaxSeconds: -7}";
    given.check("Pending", 0);
    assertThat(state(condition("Failed", "")).requeueAfterSeconds()).isZero();
  }

  @Test
  void theAttemptAfterTheLastRetryRejects() {
    given.check("Pending", 3);
    assertThat(state(condition("Failed", "no nodes")).state()).isEqualTo("Rejected");
    config = "retryStrategy: {backoffLimitCount: 0}";
    given.check("Pending", 0);
    assertThat(state(condition("BookingExpired", "")).state()).isEqualTo("Rejected");
  }

  @Test
  void revokedCapacityRejects() {
    SetState decision =
        state(
            "conditions: [{type: Provisioned, status: 'True'}, {type: CapacityRevoked, status:"
                + " 'True', message: gone}]");
    assertThat(decision.state()).isEqualTo("Rejected");
    assertThat(decision.message()).contains("gone");
  }

  @Test
  void provisionedNodesBindThePodsToTheRequest() {
    config =
        "podSetUpdates: {nodeSelector: [{key: pool, valueFromProvisioningClassDetail: Group}]}";
    assertThat(state(condition("Provisioned", "there") + "\nprovisioningClassDetails: {Group: g1}"))
        .isEqualTo(
            new SetState(
                "Ready",
                "there",
                -1,
                List.of(
                    new PodSetUpdate(
                        "main",
                        Map.of(),
                        Map.of(
                            "autoscaling.x-k8s.io/consume-provisioning-request",
                            NAME,
                            "autoscaling.x-k8s.io/provisioning-class-name",
                            "nodes"),
                        Map.of("pool", "g1"),
                        List.of()))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{Group: 'not a label'}", "{Group: {deep: 1}}", "[Group]", "null"})
  void aDetailThatCantBeUsedIsLeftOutAndNamed(String details) {
    config =
        "podSetUpdates: {nodeSelector: [{key: pool, valueFromProvisioningClassDetail: Group}]}";
    SetState decision =
        state(condition("Provisioned", "") + "\nprovisioningClassDetails: " + details);
    assertThat(decision.state()).isEqualTo("Ready");
    assertThat(decision.podSetUpdates().getFirst().nodeSelector()).isEmpty();
    assertThat(decision.message()).contains("Group");
  }

  @Test
  void onlyPodSetsThatNeededNodesAreBound() {
    config = "managedResources: [nvidia.com/gpu]";
    given
        .with(
            "/spec/podSets",
            """
            - name: leader
              template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
            - name: workers
              template: {spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]}}
            """)
        .with(
            "/status/admission/podSetAssignments",
            "[{name: leader, count: 1}, {name: workers, count: 2}]");
    assertThat(state(condition("Provisioned", "")).podSetUpdates())
        .extracting(PodSetUpdate::name)
        .containsExactly("workers");
  }

  @Test
  void aReadyCheckStaysReady() {
    given.check("Ready", 0);
    for (String status : List.of("{}", condition("Accepted", ""), condition("Provisioned", "x"))) {
      assertThat(decide(Optional.of(request(NAME, status)))).isEqualTo(new Keep());
    }
    assertThat(decide(Optional.empty())).isEqualTo(new Keep());
    served = false;
    assertThat(decide(Optional.empty())).isEqualTo(new Keep());
  }

  @ParameterizedTest
  @ValueSource(strings = {"Failed", "BookingExpired"})
  void whatHappensToTheBookingAfterTheAdmissionIsNoMatter(String condition) {
    given.check("Ready", 0);
    assertThat(state(condition(condition, "")).state()).isEqualTo("Retry");
    given.isTrue("Admitted");
    assertThat(decide(Optional.of(request(NAME, condition(condition, ""))))).isEqualTo(new Keep());
  }

  @Test
  void forACheckThatIsAddedToAnAdmittedWorkloadNothingIsCreatedOrDeleted() {
    given.isTrue("Admitted");
    assertThat(decide(Optional.empty())).isEqualTo(new Keep());
    for (String type : List.of("Accepted", "Provisioned", "Failed", "BookingExpired")) {
      assertThat(decide(Optional.of(request(NAME, condition(type, ""))))).isEqualTo(new Keep());
    }
    given.with("/status/conditions/0/lastTransitionTime", "'2026-03-01T10:05:00Z'");
    assertThat(decide(Optional.of(request(NAME, condition("Failed", ""))))).isEqualTo(new Keep());
    assertThat(state(condition("CapacityRevoked", "")).state()).isEqualTo("Rejected");
  }

  @Test
  void aReadyCheckHearsOfARequestOfAnEarlierReservation() {
    given
        .check("Ready", 0)
        .with("/status/conditions/0/lastTransitionTime", "'2026-03-01T10:05:00Z'");
    assertThat(state(condition("BookingExpired", "")).state()).isEqualTo("Retry");
    given.isTrue("Admitted");
    assertThat(state(condition("CapacityRevoked", "")).state()).isEqualTo("Rejected");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Failed", "BookingExpired", "CapacityRevoked"})
  void aRequestOfAnEarlierReservationThatIsOverIsReplacedEvenIfOthersServe(String condition) {
    given.with("/status/conditions/0/lastTransitionTime", "'2026-03-01T10:05:00Z'");
    replaces = false;
    CachedRequest old = request(NAME, condition(condition, ""));
    assertThat(decide(Optional.of(old))).isEqualTo(new DeleteRequest(old, EARLIER));
  }

  @Test
  void podsThatNeedNoNodesPassWithoutTheKind() {
    served = false;
    config = "managedResources: [nvidia.com/gpu]";
    assertThat(decide(Optional.empty()))
        .isEqualTo(SetState.of("Ready", "No pod set needs a ProvisioningRequest"));
  }

  @Test
  void revokedCapacityRejectsWhatRunsUnlessItIsInactive() {
    given.check("Ready", 0).isTrue("Admitted");
    assertThat(state(condition("CapacityRevoked", "")).state()).isEqualTo("Rejected");
    given.with("/spec/active", "false");
    assertThat(decide(Optional.of(request(NAME, condition("CapacityRevoked", "")))))
        .isEqualTo(new Keep());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null",
        "[]",
        "text",
        "conditions: {type: Provisioned, status: 'True'}",
        "conditions: [null, 1, [], {}, {type: 3, status: 'True'}, {type: Provisioned, status:"
            + " true}]",
        "conditions: [{type: Provisioned}]",
        "{conditions: null, provisioningClassDetails: 7}"
      })
  void aStatusThatMakesNoSenseIsNone(String status) {
    assertThat(state(status))
        .isEqualTo(
            SetState.of(
                "Pending",
                "ProvisioningRequest \"wl-check-1\" waits for an autoscaler to accept it"));
  }
}
