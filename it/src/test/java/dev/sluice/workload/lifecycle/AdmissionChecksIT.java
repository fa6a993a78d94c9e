package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Admission in two phases, told through the API of a real control plane; the controllers of the
 * checks are played by the test, which writes what the contract lets them write.
 */
@OperatorTest
class AdmissionChecksIT {

  private TestCluster cluster;
  private Api api;
  private String budget;
  private String capacity;

  /** A queue with a check for every flavor, and another one for flavor spot only. */
  @BeforeEach
  void givenQueues(TestCluster own) {
    cluster = own;
    api = new Api(own);
    own.createNodes(
        NodeGroup.plentiful(own.name("spot"), 1).withLabel("pool", "spot").withLabel("zone", "a"));
    budget = own.name("budget");
    capacity = own.name("capacity");
    api.givenQueues(2);
    givenCheck(budget);
    givenCheck(capacity);
    require(
        "{'name': '%s'}, {'name': '%s', 'onFlavors': ['%s']}"
            .formatted(budget, capacity, own.name("flavor")));
    api.awaitCondition("ClusterQueue", own.name("cq"), "Active", "True Ready");
  }

  private void givenCheck(String check) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: AdmissionCheck
        metadata: {name: "%s"}
        spec: {controllerName: example.test/checks}
        """
            .formatted(check));
    activate(check, "True");
  }

  private void require(String rules) {
    api.patch(
        "ClusterQueue",
        cluster.name("cq"),
        "{'spec': {'admissionChecksStrategy': {'admissionChecks': [%s]}}}".formatted(rules));
  }

  private void select(String annotation) {
    api.patch(
        "ClusterQueue",
        cluster.name("cq"),
        "{'metadata': {'annotations': {'sluice.dev/admission-check-selectors': %s}}}"
            .formatted(annotation));
  }

  private void activate(String check, String status) {
    api.patchStatus(
        "AdmissionCheck",
        check,
        ("{'status': {'conditions': [{'type': 'Active', 'status': '%s', 'reason': 'Active',"
                + " 'message': '', 'lastTransitionTime': '2026-03-01T10:00:00Z'}]}}")
            .formatted(status));
  }

  private String reserved(String job) {
    return reserved(job, 1);
  }

  private String reserved(String job, int pods) {
    api.submit(job, pods);
    String workload = api.workloadOf(job);
    api.awaitCondition("Workload", workload, "QuotaReserved", "True QuotaReserved");
    api.awaitCheck(workload, budget, "Pending");
    api.awaitCheck(workload, capacity, "Pending");
    return workload;
  }

  @Test
  void aJobStartsWhenAllChecksSaidYesAndItsPodsGetWhatTheyAdd() {
    String workload = reserved("sample");
    assertThat(api.condition("Workload", workload, "Admitted"))
        .isEqualTo("False UnsatisfiedAdmissionChecks");

    api.answerCheck(
        workload,
        budget,
        "'state': 'Ready', 'message': 'fine',"
            + " 'podSetUpdates': [{'name': 'main', 'labels': {'budget': 'b1'},"
            + " 'nodeSelector': {'zone': 'a'}}]");
    api.answerCheck(workload, capacity, "'state': 'Pending', 'message': 'nodes are coming'");
    api.awaitCheck(workload, budget, "Ready");
    assertThat(api.get("Job", "sample").at("/spec/suspend").asBoolean()).isTrue();
    api.awaitEvent("sample", "UpdatedAdmissionCheck");

    api.answerCheck(workload, capacity, "'state': 'Ready', 'message': ''");

    api.awaitRunning("sample", 1);
    api.awaitEvent(workload, "Admitted");
    JsonNode template = api.get("Job", "sample").at("/spec/template");
    assertThat(template.at("/metadata/labels/budget").asText()).isEqualTo("b1");
    assertThat(api.check(workload, budget)).isEqualTo("Ready");

    api.patch("Workload", workload, "{'spec': {'active': false}}");

    api.awaitCondition("Workload", workload, "QuotaReserved", "False Deactivated");
    assertThat(api.check(workload, budget)).isEqualTo("Pending");
    api.awaitField("Job", "sample", "/spec/template/metadata/labels/budget", "");
  }

  @Test
  void aCheckThatAsksForAnotherTryReleasesTheQuotaForAsLongAsItWants() {
    String workload = reserved("sample");

    api.answerCheck(
        workload, budget, "'state': 'Retry', 'message': 'not now', 'requeueAfterSeconds': 6");

    api.awaitCondition("Workload", workload, "Requeued", "False AdmissionCheck");
    assertThat(api.condition("Workload", workload, "Evicted")).isEqualTo("True AdmissionCheck");
    assertThat(api.condition("Workload", workload, "QuotaReserved"))
        .isEqualTo("False PendingEvaluation");
    api.awaitCheck(workload, budget, "Pending");
    JsonNode status = api.get("Workload", workload).at("/status");
    assertThat(status.at("/admissionChecks/0/retryCount").asInt()).isEqualTo(1);
    assertThat(status.at("/admissionChecks/0/requeueAfterSeconds").asInt()).isEqualTo(6);
    assertThat(status.at("/requeueState/requeueAt").asText()).isNotEmpty();
    api.awaitEvent(workload, "EvictedDueToAdmissionCheck");
    api.awaitUsage("0");

    api.awaitCondition("Workload", workload, "QuotaReserved", "True QuotaReserved");
    assertThat(api.condition("Workload", workload, "Requeued")).isEqualTo("True BackoffFinished");
    api.answerCheck(workload, budget, "'state': 'Ready', 'message': ''");
    api.answerCheck(workload, capacity, "'state': 'Ready', 'message': ''");
    api.awaitRunning("sample", 1);
  }

  @Test
  void aCheckThatRejectsDeactivates() {
    String workload = reserved("sample");

    api.answerCheck(workload, capacity, "'state': 'Rejected', 'message': 'never'");

    api.awaitCondition("Workload", workload, "Evicted", "True DeactivatedDueToAdmissionCheck");
    api.awaitCondition("Workload", workload, "QuotaReserved", "False Deactivated");
    assertThat(api.get("Workload", workload).at("/spec/active").asBoolean(true)).isFalse();
    api.awaitEvent(workload, "AdmissionCheckRejected");
    assertThat(
            api.get("Workload", workload).at("/status/schedulingStats/evictions/0/underlyingCause"))
        .hasToString("\"AdmissionCheck\"");
  }

  /** One that the status has no room for is asked by nobody. */
  @Test
  void aWorkloadThatNeedsMoreChecksThanThereIsRoomForWaitsAndSaysSo() {
    String workload = reserved("sample");
    List<String> nine =
        IntStream.range(0, 9).mapToObj(each -> cluster.name("check-" + each)).toList();
    nine.forEach(this::givenCheck);
    select("'{\\\"%s\\\": {}}'".formatted(nine.getFirst()));

    require(nine.stream().map("{'name': '%s'}"::formatted).collect(Collectors.joining(", ")));

    api.awaitCondition("Workload", workload, "QuotaReserved", "False Misconfigured");
    api.awaitMessage(workload, "QuotaReserved", "It needs 9 admission checks");
    assertThat(api.condition("ClusterQueue", cluster.name("cq"), "Active")).isEqualTo("True Ready");

    select("null");

    api.awaitCondition("ClusterQueue", cluster.name("cq"), "Active", "False Unknown");

    require("{'name': '%s'}".formatted(budget));

    api.awaitCondition("Workload", workload, "QuotaReserved", "True QuotaReserved");
    api.awaitCheck(workload, budget, "Pending");
    api.answerCheck(workload, budget, "'state': 'Ready', 'message': ''");
    api.awaitRunning("sample", 1);
  }

  @Test
  void whatChecksContradictEndsTheWorkload() {
    String workload = reserved("sample");
    api.answerCheck(
        workload,
        budget,
        "'state': 'Ready', 'message': '',"
            + " 'podSetUpdates': [{'name': 'main', 'nodeSelector': {'zone': 'b'}}]");
    api.answerCheck(workload, capacity, "'state': 'Ready', 'message': ''");

    api.awaitCondition("Workload", workload, "Finished", "True FailedToStart");
    assertThat(api.get("Job", "sample").at("/spec/suspend").asBoolean()).isTrue();
  }

  @Test
  void aJobThatChangesWhileItHoldsQuotaGetsANewWorkload() {
    String workload = reserved("sample", 2);
    String uid = api.get("Workload", workload).at("/metadata/uid").asText();

    api.patch("Job", "sample", "{'spec': {'parallelism': 1}}");

    api.awaitField("Workload", workload, "/spec/podSets/0/count", "1");
    assertThat(api.get("Workload", workload).at("/metadata/uid").asText()).isNotEqualTo(uid);
    api.awaitEvent("sample", "DeletedWorkload");
    api.awaitCondition("Workload", workload, "QuotaReserved", "True QuotaReserved");
    api.awaitField(
        "ClusterQueue", cluster.name("cq"), "/status/flavorsReservation/0/resources/0/total", "1");
  }

  @Test
  void aQueueWhoseCheckIsNotActiveAdmitsNothing() {
    String queue = cluster.name("cq");
    activate(capacity, "False");
    api.awaitCondition("ClusterQueue", queue, "Active", "False AdmissionCheckInactive");
    api.submit("sample", 1);
    String workload = api.workloadOf("sample");
    api.awaitCondition("Workload", workload, "QuotaReserved", "False Suspended");

    activate(capacity, "True");

    api.awaitCondition("ClusterQueue", queue, "Active", "True Ready");
    api.awaitCondition("Workload", workload, "QuotaReserved", "True QuotaReserved");
  }
}
