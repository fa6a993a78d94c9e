package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A Job that changes, and its Workload, on a real control plane. */
@OperatorTest
class JobChangesIT {

  private TestCluster cluster;
  private Api api;

  @BeforeEach
  void givenQueues(TestCluster own) {
    cluster = own;
    api = new Api(own);
    own.createNodes(
        NodeGroup.plentiful(own.name("spot"), 1).withLabel("pool", "spot").withLabel("zone", "a"));
    api.givenQueues(1);
    own.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: other, namespace: "${namespace}"}
        spec: {clusterQueue: "cq-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: "high-${suffix}"}
        value: 100
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: "low-${suffix}"}
        value: 1
        """);
  }

  private String waiting(String job) {
    api.submit(job, 1);
    String workload = api.workloadOf(job);
    api.awaitCondition("Workload", workload, "QuotaReserved", "False WaitingForQuota");
    return workload;
  }

  private void label(String job, String key, String value) {
    api.patch(
        "Job", job, "{'metadata': {'labels': {'kueue.x-k8s.io/%s': '%s'}}}".formatted(key, value));
  }

  private String uid(String workload) {
    return api.get("Workload", workload).at("/metadata/uid").asText();
  }

  @Test
  void aWaitingJobMovesToAnotherQueueWithItsWorkload() {
    api.patch("LocalQueue", "lq", "{'spec': {'stopPolicy': 'Hold'}}");
    api.awaitCondition("LocalQueue", "lq", "Active", "False Stopped");
    api.submit("sample", 1);
    String workload = api.workloadOf("sample");
    api.awaitCondition("Workload", workload, "QuotaReserved", "False Suspended");
    String uid = uid(workload);

    label("sample", "queue-name", "other");

    api.awaitRunning("sample", 1);
    assertThat(api.get("Workload", workload).at("/spec/queueName").asText()).isEqualTo("other");
    assertThat(uid(workload)).isEqualTo(uid);
    api.awaitEvent("sample", "UpdatedWorkload");
  }

  @Test
  void aWaitingJobThatGetsAPriorityClassOvertakes() {
    api.submit("first", 1);
    api.awaitRunning("first", 1);
    String second = waiting("second");
    String third = waiting("third");

    label("third", "priority-class", cluster.name("high"));
    api.awaitField("Workload", third, "/spec/priority", "100");
    JsonNode ref = api.get("Workload", third).at("/spec/priorityClassRef");
    assertThat(ref.path("name").asText()).isEqualTo(cluster.name("high"));
    assertThat(ref.path("kind").asText()).isEqualTo("WorkloadPriorityClass");
    api.delete("Job", "first");

    api.awaitRunning("third", 1);
    assertThat(api.condition("Workload", second, "QuotaReserved"))
        .isEqualTo("False WaitingForQuota");
  }

  @Test
  void aRunningJobMayChangeItsPriorityClassAndRunsOn() {
    api.patch("LocalQueue", "lq", "{'spec': {'stopPolicy': 'Hold'}}");
    api.submit("sample", 1);
    String workload = api.workloadOf("sample");
    label("sample", "priority-class", cluster.name("high"));
    api.awaitField("Workload", workload, "/spec/priority", "100");
    api.patch("LocalQueue", "lq", "{'spec': {'stopPolicy': 'None'}}");
    api.awaitRunning("sample", 1);
    String uid = uid(workload);

    label("sample", "priority-class", cluster.name("low"));

    api.awaitField("Workload", workload, "/spec/priority", "1");
    assertThat(uid(workload)).isEqualTo(uid);
    assertThat(api.get("Job", "sample").at("/spec/suspend").asBoolean()).isFalse();
    assertThat(api.condition("Workload", workload, "Evicted")).isEqualTo("absent");
  }

  @Test
  void whatAWaitingJobChangesIsWrittenIntoItsWorkload() {
    api.submit("first", 1);
    api.awaitRunning("first", 1);
    String workload = waiting("second");
    String uid = uid(workload);

    label("second", "max-exec-time-seconds", "77");
    api.awaitField("Workload", workload, "/spec/maximumExecutionTimeSeconds", "77");
    api.patch(
        "Job",
        "second",
        "{'spec': {'template': {'spec': {'tolerations': [{'key': 'mine', 'operator':"
            + " 'Exists'}]}}}}");

    api.awaitField("Workload", workload, "/spec/podSets/0/template/spec/tolerations/0/key", "mine");
    assertThat(uid(workload)).isEqualTo(uid);
    api.awaitEvent("second", "UpdatedWorkload");
  }

  @Test
  void gatesAreTakenOffTheJobOneByOneAndTheWorkloadFollows() {
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: gated
          labels: {kueue.x-k8s.io/queue-name: lq}
          annotations: {kueue.x-k8s.io/admission-gated-by: "example.com/a,example.com/b"}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              nodeSelector: {zone: a}
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """);
    String workload = api.workloadOf("gated");
    api.awaitCondition("Workload", workload, "QuotaReserved", "False AdmissionGated");

    api.patch(
        "Job",
        "gated",
        "{'metadata': {'annotations': {'kueue.x-k8s.io/admission-gated-by': 'example.com/b'}}}");
    api.awaitField(
        "Workload",
        workload,
        "/metadata/annotations/kueue.x-k8s.io~1admission-gated-by",
        "example.com/b");
    api.awaitEvent("gated", "UpdatedWorkload");
    assertThat(api.condition("Workload", workload, "QuotaReserved"))
        .isEqualTo("False AdmissionGated");

    api.patch(
        "Job",
        "gated",
        "{'metadata': {'annotations': {'kueue.x-k8s.io/admission-gated-by': null}}}");
    api.awaitRunning("gated", 1);
  }

  @Test
  void aSuspendedJobThatLosesItsQueueGivesItsQuotaBack() {
    String check = cluster.name("check");
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: AdmissionCheck
        metadata: {name: "check-${suffix}"}
        spec: {controllerName: example.test/checks}
        """);
    api.patchStatus(
        "AdmissionCheck",
        check,
        "{'status': {'conditions': [{'type': 'Active', 'status': 'True', 'reason': 'Active',"
            + " 'message': '', 'lastTransitionTime': '2026-03-01T10:00:00Z'}]}}");
    api.patch(
        "ClusterQueue",
        cluster.name("cq"),
        "{'spec': {'admissionChecksStrategy': {'admissionChecks': [{'name': '%s'}]}}}"
            .formatted(check));
    api.submit("first", 1);
    String first = api.workloadOf("first");
    api.awaitCondition("Workload", first, "QuotaReserved", "True QuotaReserved");
    String second = waiting("second");

    api.patch("Job", "first", "{'metadata': {'labels': {'kueue.x-k8s.io/queue-name': null}}}");

    api.awaitGone("Workload", first);
    api.awaitEvent("first", "DeletedWorkload");
    api.awaitCondition("Workload", second, "QuotaReserved", "True QuotaReserved");
    assertThat(api.get("Job", "first").at("/spec/suspend").asBoolean()).isTrue();

    label("first", "queue-name", "lq");
    api.awaitCondition(
        "Workload", api.workloadOf("first"), "QuotaReserved", "False WaitingForQuota");
  }

  @Test
  void aJobDoesNotGetTheWorkloadOfAnotherThatItNamesAsPrebuilt() {
    api.submit("first", 1);
    String workload = api.awaitRunning("first", 1);
    String uid = uid(workload);

    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: second
          labels:
            kueue.x-k8s.io/queue-name: lq
            kueue.x-k8s.io/prebuilt-workload-name: %s
        spec:
          suspend: true
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}, labels: {team: research}}
            spec:
              restartPolicy: Never
              nodeSelector: {zone: a}
              tolerations: [{key: own, operator: Exists}]
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(workload));

    api.awaitEvent("second", "WorkloadNameConflict");
    assertThat(api.get("Job", "second").at("/spec/suspend").asBoolean()).isTrue();
    assertThat(uid(workload)).isEqualTo(uid);
    assertThat(api.get("Workload", workload).at("/metadata/ownerReferences"))
        .singleElement()
        .satisfies(owner -> assertThat(owner.path("name").asText()).isEqualTo("first"));
    assertThat(api.get("Job", "first").at("/status/active").asInt()).isEqualTo(1);
  }

  /** As in a worker cluster, where the Workload holds the labels of the manager's Job. */
  private String runningWithTheLabelsOfAnotherJob(String job) {
    api.submit(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: prebuilt}
        spec:
          queueName: lq
          podSets:
          - name: main
            count: 1
            template:
              metadata:
                labels:
                  team: research
                  controller-uid: 3f0c9f52-0000-4000-8000-000000000001
                  batch.kubernetes.io/controller-uid: 3f0c9f52-0000-4000-8000-000000000001
                  job-name: another
                  batch.kubernetes.io/job-name: another
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """);
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels:
            kueue.x-k8s.io/queue-name: lq
            kueue.x-k8s.io/prebuilt-workload-name: prebuilt
        spec:
          suspend: true
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}, labels: {team: research}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(job));
    return api.awaitRunning(job, 1);
  }

  private void assertRestored(String job) {
    JsonNode object = api.get("Job", job);
    assertThat(object.at("/metadata/annotations").has("kueue.x-k8s.io/stopping")).isFalse();
    JsonNode labels = object.at("/spec/template/metadata/labels");
    assertThat(labels.path("batch.kubernetes.io/controller-uid").asText())
        .isEqualTo(object.at("/metadata/uid").asText());
    assertThat(labels.path("batch.kubernetes.io/job-name").asText()).isEqualTo(job);
    assertThat(labels.path("team").asText()).isEqualTo("research");
    assertThat(labels.has("kueue.x-k8s.io/podset")).isFalse();
  }

  @Test
  void anEvictionEndsWhereTheWorkloadHoldsTheLabelsOfAnotherJob() {
    String workload = runningWithTheLabelsOfAnotherJob("sample");

    api.patch("Workload", workload, "{'spec': {'active': false}}");

    api.awaitCondition("Workload", workload, "QuotaReserved", "False Deactivated");
    api.awaitField("Job", "sample", "/status/active", "");
    assertRestored("sample");
    api.patch("Workload", workload, "{'spec': {'active': true}}");
    api.awaitRunning("sample", 1);
  }

  @Test
  void aPreemptionEndsWhereTheWorkloadHoldsTheLabelsOfAnotherJob() {
    api.patch(
        "ClusterQueue",
        cluster.name("cq"),
        "{'spec': {'preemption': {'withinClusterQueue': 'LowerPriority'}}}");
    String workload = runningWithTheLabelsOfAnotherJob("sample");

    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: urgent
          labels: {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/priority-class: "high-${suffix}"}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """);

    api.awaitRunning("urgent", 1);
    api.awaitCondition("Workload", workload, "QuotaReserved", "False WaitingForQuota");
    assertRestored("sample");
  }
}
