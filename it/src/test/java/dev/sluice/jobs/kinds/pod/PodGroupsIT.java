package dev.sluice.jobs.kinds.pod;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Groups of pods in a queue, told through the API of a real control plane. */
@OperatorTest(configuration = "integrations: {frameworks: [batch/job, pod]}")
class PodGroupsIT {

  private PodApi api;

  @BeforeEach
  void look(TestCluster own) {
    api = new PodApi(own);
    own.createNodes(NodeGroup.plentiful(own.name("spot"), 1).withLabel("pool", "spot"));
  }

  @Test
  void aGroupOfTwoRolesWaitsUntilItIsCompleteStartsAsOneAndEnds() {
    api.givenQueues(4);
    pod("leader", 3, "2", "3s", "");
    pod("worker-1", 3, "1", "3s", "");
    api.awaitField("Pod", "worker-1", "/metadata/finalizers/0", "kueue.x-k8s.io/managed");
    assertThat(api.find("Workload", "sample")).isEmpty();

    pod("worker-2", 3, "1", "3s", "");

    for (String name : List.of("leader", "worker-1", "worker-2")) {
      api.awaitField("Pod", name, "/status/phase", "Running");
      assertThat(api.get("Pod", name).at("/spec/nodeSelector/pool").asText()).isEqualTo("spot");
    }
    JsonNode workload = api.get("Workload", "sample");
    assertThat(workload.at("/metadata/annotations/kueue.x-k8s.io~1is-group-workload").asText())
        .isEqualTo("true");
    assertThat(workload.at("/metadata/ownerReferences"))
        .hasSize(3)
        .allSatisfy(owner -> assertThat(owner.path("controller").asBoolean()).isFalse());
    assertThat(workload.at("/spec/podSets"))
        .extracting(podSet -> podSet.path("count").asInt())
        .containsExactlyInAnyOrder(1, 2);
    assertThat(workload.at("/spec/podSets"))
        .extracting(podSet -> podSet.path("name").asText())
        .isSorted();
    assertThat(api.get("Pod", "leader").at("/metadata/labels/kueue.x-k8s.io~1podset").asText())
        .isEqualTo(
            api.get("Pod", "leader")
                .at("/metadata/annotations/kueue.x-k8s.io~1role-hash")
                .asText());
    api.awaitUsage("4");

    api.awaitCondition("Workload", "sample", "Finished", "True Succeeded");
    assertThat(PodApi.message(api.get("Workload", "sample"), "Finished"))
        .isEqualTo("Pods succeeded: 3/3.");
    for (String name : List.of("leader", "worker-1", "worker-2")) {
      api.awaitField("Pod", name, "/metadata/finalizers/0", "");
    }
    api.awaitUsage("0");
  }

  @Test
  void aPodTooManyIsDeleted() {
    api.givenQueues(4);
    pod("one", 2, "1", "10m", "");
    pod("two", 2, "1", "10m", "");
    api.awaitField("Pod", "one", "/status/phase", "Running");
    api.awaitField("Pod", "two", "/status/phase", "Running");

    pod("three", 2, "1", "10m", "");

    api.awaitGone("Pod", "three");
    api.awaitEvents("three", "ExcessPodDeleted");
    assertThat(api.get("Pod", "one").at("/status/phase").asText()).isEqualTo("Running");
    api.awaitUsage("2");
  }

  @Test
  void aFailedPodIsReplaced() {
    api.givenQueues(4);
    pod("good", 2, "1", "10m", "");
    pod("bad", 2, "1", "1s", "sluice.dev/exit-code: '1', ");
    api.awaitField("Pod", "bad", "/status/phase", "Failed");
    api.awaitCondition("Workload", "sample", "WaitingForReplacementPods", "True PodsFailed");
    assertThat(api.get("Pod", "bad").at("/metadata/finalizers/0").asText())
        .isEqualTo("kueue.x-k8s.io/managed");

    pod("better", 2, "1", "10m", "");

    api.awaitField("Pod", "better", "/status/phase", "Running");
    api.awaitField("Pod", "bad", "/metadata/finalizers/0", "");
    api.awaitCondition("Workload", "sample", "WaitingForReplacementPods", "False PodsReady");
    api.awaitEvents("sample", "OwnerReferencesAdded");
    assertThat(api.get("Workload", "sample").at("/metadata/ownerReferences")).hasSize(3);
    api.awaitUsage("2");
  }

  @Test
  void aGroupThatIsNotRetriableEndsWithItsLastPod() {
    api.givenQueues(4);
    pod("good", 2, "1", "2s", "");
    pod(
        "bad",
        2,
        "1",
        "1s",
        "sluice.dev/exit-code: '1', kueue.x-k8s.io/retriable-in-group: 'false', ");
    api.awaitCondition("Workload", "sample", "Finished", "True Succeeded");
    assertThat(PodApi.message(api.get("Workload", "sample"), "Finished"))
        .isEqualTo("Pods succeeded: 1/2.");
    api.awaitField("Pod", "bad", "/metadata/finalizers/0", "");
  }

  @Test
  void aGroupThatIsDeletedMidwayGivesItsQuotaBack() {
    api.givenQueues(4);
    pod("one", 2, "1", "10m", "");
    pod("two", 2, "1", "10m", "");
    api.awaitField("Pod", "one", "/status/phase", "Running");
    api.awaitUsage("2");

    api.delete("Pod", "one");
    api.delete("Pod", "two");

    api.awaitGone("Pod", "one");
    api.awaitGone("Pod", "two");
    api.awaitGone("Workload", "sample");
    api.awaitUsage("0");
  }

  @Test
  void aGatedGroupThatIsDeletedLeavesNothing() {
    api.givenQueues(1);
    pod("one", 2, "1", "10m", "");
    pod("two", 2, "1", "10m", "");
    api.awaitCondition("Workload", "sample", "QuotaReserved", "False ExceedsMaxQuota");

    api.delete("Pod", "one");
    api.awaitGone("Pod", "one");
    api.awaitCondition("Workload", "sample", "WaitingForReplacementPods", "True PodsFailed");
    api.delete("Pod", "two");
    api.awaitGone("Pod", "two");
    api.awaitGone("Workload", "sample");
  }

  @Test
  void aDeletedWorkloadStopsTheGroup() {
    api.givenQueues(4);
    pod("one", 2, "1", "10m", "");
    pod("two", 2, "1", "10m", "");
    api.awaitField("Pod", "one", "/status/phase", "Running");
    api.awaitField("Pod", "two", "/status/phase", "Running");

    api.delete("Workload", "sample");

    api.awaitGone("Pod", "one");
    api.awaitGone("Pod", "two");
    api.awaitGone("Workload", "sample");
    api.awaitUsage("0");
  }

  @Test
  void aPreemptedGroupIsDeletedAsAWhole() {
    api.givenQueues(2);
    pod("one", 2, "1", "10m", "");
    pod("two", 2, "1", "10m", "");
    api.awaitField("Pod", "one", "/status/phase", "Running");
    api.awaitField("Pod", "two", "/status/phase", "Running");

    urgentPod();

    api.awaitGone("Pod", "one");
    api.awaitGone("Pod", "two");
    api.awaitField("Pod", "urgent", "/status/phase", "Running");
    api.awaitUsage("1");
  }

  /** No kubelet knows pods that have no node, so that only the operator takes its finalizer off. */
  @Test
  void evictedPodsWithoutANodeAreKeptUntilTheyAreReplaced() {
    api.givenQueues(2);
    podOf("nobody", "one");
    podOf("nobody", "two");
    for (String name : List.of("one", "two")) {
      api.awaitField("Pod", name, "/spec/schedulingGates/0/name", "");
    }

    urgentPod();

    api.awaitCondition("Workload", "sample", "WaitingForReplacementPods", "True Preempted");
    api.awaitCondition("Workload", "sample", "Requeued", "True Preempted");
    api.awaitField("Pod", "urgent", "/status/phase", "Running");
    for (String name : List.of("one", "two")) {
      JsonNode pod = api.get("Pod", name);
      assertThat(pod.at("/metadata/deletionTimestamp").asText()).isNotEmpty();
      assertThat(pod.at("/metadata/finalizers/0").asText()).isEqualTo("kueue.x-k8s.io/managed");
    }

    podOf("default-scheduler", "three");
    podOf("default-scheduler", "four");
    api.awaitGone("Pod", "one");
    api.awaitGone("Pod", "two");
    api.awaitCondition("Workload", "sample", "WaitingForReplacementPods", "False PodsReady");
    api.delete("Pod", "urgent");

    api.awaitField("Pod", "three", "/status/phase", "Running");
    api.awaitField("Pod", "four", "/status/phase", "Running");
    assertThat(PodApi.condition(api.get("Workload", "sample"), "Finished")).isEqualTo("absent");
    api.awaitUsage("2");
  }

  private void urgentPod() {
    api.apply(
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: urgent
          labels: {kueue.x-k8s.io/queue-name: lq}
          annotations: {sluice.dev/run-for: 10m}
        spec:
          priorityClassName: "high-${suffix}"
          restartPolicy: Never
          containers:
          - {name: main, image: none, resources: {requests: {cpu: "1"}}}
        """);
  }

  @Test
  void aPodOfAGroupAdmittedFastStartsWhenItComes() {
    api.givenQueues(4);
    pod("one", 3, "1", "10m", "kueue.x-k8s.io/pod-group-fast-admission: 'true', ");
    api.awaitField("Pod", "one", "/status/phase", "Running");
    assertThat(api.get("Workload", "sample").at("/spec/podSets/0/count").asInt()).isEqualTo(3);
    api.awaitUsage("3");
    pod("two", 3, "1", "10m", "kueue.x-k8s.io/pod-group-fast-admission: 'true', ");
    api.awaitField("Pod", "two", "/status/phase", "Running");
  }

  @Test
  void aPodLargerThanWhatWasAdmittedStaysGated() {
    api.givenQueues(4);
    String same =
        "kueue.x-k8s.io/pod-group-fast-admission: 'true', kueue.x-k8s.io/role-hash: workers, ";
    pod("first", 2, "1", "10m", same);
    api.awaitField("Pod", "first", "/status/phase", "Running");

    pod("large", 2, "3", "10m", same);

    api.awaitEvents("large", "PodExceedsAdmission");
    assertThat(api.get("Pod", "large").at("/spec/schedulingGates/0/name").asText())
        .isEqualTo("kueue.x-k8s.io/admission");
    api.awaitUsage("2");
  }

  @Test
  void aStartedPodGetsItsLabelBack() {
    api.givenQueues(4);
    pod("one", 1, "1", "10m", "");
    api.awaitField("Pod", "one", "/status/phase", "Running");

    api.patch("Pod", "one", "{'metadata':{'labels':{'kueue.x-k8s.io/managed':null}}}");

    api.awaitField("Pod", "one", "/metadata/labels/kueue.x-k8s.io~1managed", "true");
    api.awaitUsage("1");
  }

  @Test
  void aWorkloadOfSomethingElseIsNotTaken() {
    api.givenQueues(4);
    api.apply(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: sample}
        spec:
          active: false
          podSets:
          - name: main
            count: 1
            template:
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none}]
        """);
    pod("one", 1, "1", "10m", "");
    api.awaitEvents("one", "WorkloadNameConflict");
    assertThat(api.get("Workload", "sample").at("/metadata/ownerReferences").isEmpty()).isTrue();
    assertThat(api.get("Pod", "one").at("/spec/schedulingGates").isEmpty()).isFalse();
  }

  /** A pod of a group of two with one CPU each, for a scheduler. */
  private void podOf(String scheduler, String name) {
    api.apply(
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/pod-group-name: sample}
          annotations: {kueue.x-k8s.io/pod-group-total-count: "2", sluice.dev/run-for: 10m}
        spec:
          schedulerName: %s
          restartPolicy: Never
          containers:
          - {name: main, image: none, resources: {requests: {cpu: "1"}}}
        """
            .formatted(name, scheduler));
  }

  private void pod(String name, int total, String cpus, String runFor, String annotations) {
    api.apply(
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/pod-group-name: sample}
          annotations:
            {%skueue.x-k8s.io/pod-group-total-count: "%d", sluice.dev/run-for: "%s"}
        spec:
          restartPolicy: Never
          containers:
          - {name: main, image: none, resources: {requests: {cpu: "%s"}}}
        """
            .formatted(name, annotations, total, runFor, cpus));
  }
}
