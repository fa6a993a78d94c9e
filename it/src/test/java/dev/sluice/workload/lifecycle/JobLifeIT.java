package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What happens to Jobs besides being admitted, told through the API of a real control plane. */
@OperatorTest
class JobLifeIT {

  private TestCluster cluster;
  private Api api;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new Api(own);
    own.createNodes(
        NodeGroup.plentiful(own.name("spot"), 1).withLabel("pool", "spot").withLabel("zone", "a"));
  }

  @Test
  void aDeactivatedJobIsStoppedAndRestoredAndRunsAgainWhenItIsReactivated() {
    api.givenQueues(4);
    JsonNode submitted = api.submit("sample", 2);
    String workload = api.awaitRunning("sample", 2);
    JsonNode running = api.get("Job", "sample").at("/spec/template/spec");
    assertThat(running.at("/nodeSelector/pool").asText()).isEqualTo("spot");
    assertThat(running.at("/tolerations")).hasSize(2);

    api.patch("Workload", workload, "{'spec': {'active': false}}");

    api.awaitField("Job", "sample", "/spec/suspend", "true");
    api.awaitCondition("Workload", workload, "QuotaReserved", "False Deactivated");
    assertThat(api.condition("Workload", workload, "Admitted")).isEqualTo("False NoReservation");
    assertThat(api.condition("Workload", workload, "Evicted")).isEqualTo("True Deactivated");
    assertThat(api.condition("Workload", workload, "Requeued")).isEqualTo("False Deactivated");
    assertThat(api.get("Workload", workload).at("/status/admission").isMissingNode()).isTrue();
    assertThat(api.get("Workload", workload).at("/status/schedulingStats/evictions").toString())
        .isEqualTo("[{\"count\":1,\"reason\":\"Deactivated\",\"underlyingCause\":\"\"}]");
    assertThat(api.get("Job", "sample").at("/spec/template"))
        .isEqualTo(submitted.at("/spec/template"));
    api.awaitEvent(workload, "EvictedDueToDeactivated");
    api.awaitUsage("0");

    api.patch("Workload", workload, "{'spec': {'active': true}}");

    api.awaitRunning("sample", 2);
    assertThat(api.condition("Workload", workload, "Requeued")).isEqualTo("True Reactivated");
    assertThat(api.condition("Workload", workload, "Evicted")).isEqualTo("False QuotaReserved");
    api.awaitUsage("2");
  }

  @ParameterizedTest
  @ValueSource(strings = {"ClusterQueue", "LocalQueue"})
  void aHeldQueueAdmitsNothingAndADrainedOneSendsBack(String kind) {
    api.givenQueues(4);
    String queue = kind.equals("LocalQueue") ? "lq" : cluster.name("cq");
    api.submit("early", 1);
    String early = api.awaitRunning("early", 1);

    api.patch(kind, queue, "{'spec': {'stopPolicy': 'Hold'}}");
    api.awaitCondition(kind, queue, "Active", "False Stopped");
    api.submit("late", 1);
    String late = api.workloadOf("late");
    api.awaitCondition("Workload", late, "QuotaReserved", "False Suspended");
    assertThat(api.condition("Workload", early, "Admitted")).isEqualTo("True Admitted");

    api.patch(kind, queue, "{'spec': {'stopPolicy': 'HoldAndDrain'}}");
    api.awaitField("Job", "early", "/spec/suspend", "true");
    api.awaitCondition("Workload", early, "QuotaReserved", "False Suspended");
    String stopped = kind + "Stopped";
    assertThat(api.condition("Workload", early, "Evicted")).isEqualTo("True " + stopped);
    assertThat(api.condition("Workload", early, "Requeued")).isEqualTo("False " + stopped);
    api.awaitEvent(early, "EvictedDueTo" + stopped);
    api.awaitUsage("0");

    api.patch(kind, queue, "{'spec': {'stopPolicy': 'None'}}");
    api.awaitRunning("early", 1);
    api.awaitRunning("late", 1);
    assertThat(api.condition("Workload", early, "Requeued"))
        .isEqualTo("True " + kind + "Restarted");
    assertThat(api.condition("Workload", late, "Requeued")).isEqualTo("absent");
  }

  @Test
  void aDeletedJobTakesItsWorkloadAlongAndGivesItsQuotaBack() {
    api.givenQueues(1);
    api.submit("first", 1);
    String first = api.awaitRunning("first", 1);
    api.submit("second", 1);
    api.awaitCondition(
        "Workload", api.workloadOf("second"), "QuotaReserved", "False WaitingForQuota");

    api.delete("Job", "first");

    api.awaitGone("Workload", first);
    api.awaitRunning("second", 1);
  }

  @Test
  void aWorkloadWhoseJobIsDeletedAloneIsFinished() {
    api.givenQueues(1);
    api.submit("sample", 1);
    String workload = api.awaitRunning("sample", 1);
    awaitGarbageCollectionOfWorkloads();

    api.deleteAlone("Job", "sample");

    api.awaitCondition("Workload", workload, "Finished", "True OwnerNotFound");
    api.awaitField("Workload", workload, "/metadata/finalizers/0", "");
    // The pods run on, so their quota stays in use.
    api.awaitUsage("1");
    cluster.client().pods().inNamespace(cluster.namespace()).withGracePeriod(0).delete();
    api.awaitUsage("0");
  }

  /**
   * Until it has found the kind, the garbage collector can't leave its objects alone on purpose.
   */
  private void awaitGarbageCollectionOfWorkloads() {
    api.submit(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata:
          name: nobodys
          ownerReferences:
          - {apiVersion: batch/v1, kind: Job, name: nobody, uid: 4b5b3c2e-0000-4000-8000-00000000dead}
        spec:
          active: false
          queueName: lq
          podSets:
          - name: main
            count: 1
            template:
              spec:
                restartPolicy: Never
                containers:
                - {name: main, image: none, resources: {requests: {cpu: "1"}}}
        """);
    api.awaitGone("Workload", "nobodys");
  }

  @Test
  void aWorkloadThatNothingOwnsIsAdmittedAndGoesWhenItIsDeleted() {
    api.givenQueues(1);
    String workload =
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: %s, finalizers: [%s]}
        spec:
          queueName: lq
          podSets:
          - name: main
            count: 1
            template:
              spec:
                restartPolicy: Never
                containers:
                - {name: main, image: none, resources: {requests: {cpu: "1"}}}
        """;
    api.submit(workload.formatted("lone", "kueue.x-k8s.io/resource-in-use"));
    api.awaitCondition("Workload", "lone", "Admitted", "True Admitted");
    api.submit(workload.formatted("next", ""));
    api.awaitCondition("Workload", "next", "QuotaReserved", "False WaitingForQuota");

    api.delete("Workload", "lone");

    api.awaitGone("Workload", "lone");
    api.awaitCondition("Workload", "next", "Admitted", "True Admitted");
  }

  @Test
  void aDeletedWorkloadOfALiveJobStopsItAndIsMadeAnew() {
    api.givenQueues(1);
    api.submit("sample", 1);
    String workload = api.awaitRunning("sample", 1);
    String uid = api.get("Workload", workload).at("/metadata/uid").asText();

    api.delete("Workload", workload);

    await()
        .atMost(Duration.ofMinutes(5))
        .untilAsserted(
            () ->
                assertThat(api.find("Workload", workload).map(w -> w.at("/metadata/uid").asText()))
                    .get()
                    .isNotEqualTo(uid));
    api.awaitRunning("sample", 1);
  }

  @Test
  void aWaitingJobThatShrinksFits() {
    api.givenQueues(2);
    api.submit("sample", 5);
    String workload = api.workloadOf("sample");
    api.awaitCondition("Workload", workload, "QuotaReserved", "False ExceedsMaxQuota");

    api.patch("Job", "sample", "{'spec': {'parallelism': 2}}");

    api.awaitRunning("sample", 2);
    assertThat(api.get("Workload", workload).at("/spec/podSets/0/count").asInt()).isEqualTo(2);
  }

  @Test
  void aRunningJobThatChangesItsSizeIsStoppedAndAdmittedAnew() {
    api.givenQueues(4);
    api.submit("sample", 3);
    api.awaitRunning("sample", 3);

    for (int pods : List.of(2, 3)) {
      api.patch("Job", "sample", "{'spec': {'parallelism': " + pods + "}}");

      awaitWorkloadOfSize("sample", pods);
      api.awaitRunning("sample", pods);
      assertThat(api.get("Job", "sample").at("/spec/parallelism").asInt()).isEqualTo(pods);
      api.awaitUsage(Integer.toString(pods));
    }
  }

  private void awaitWorkloadOfSize(String job, int pods) {
    await()
        .atMost(Duration.ofMinutes(5))
        .untilAsserted(
            () ->
                assertThat(
                        api.get("Workload", api.workloadOf(job))
                            .at("/status/admission/podSetAssignments/0/count")
                            .asInt())
                    .isEqualTo(pods));
  }

  @Test
  void podsThatAreDoneLetOthersIn() {
    api.givenQueues(2);
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: waning, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          parallelism: 2
          completions: 3
          template:
            metadata: {annotations: {sluice.dev/run-for: "8s"}}
            spec:
              restartPolicy: Never
              containers:
              - {name: main, image: none, resources: {requests: {cpu: "1"}}}
        """);
    String waning = api.awaitRunning("waning", 2);
    api.submit("next", 1);

    api.awaitField("Workload", waning, "/status/reclaimablePods/0/count", "1");
    api.awaitRunning("next", 1);
    assertThat(api.condition("Workload", waning, "Finished")).isEqualTo("absent");
    api.awaitCondition("Workload", waning, "Finished", "True Succeeded");
    api.awaitUsage("1");
  }

  @Test
  void limitsDefaultsAndOverheadCount() {
    api.givenQueues(3);
    cluster.applyText(
        """
        apiVersion: v1
        kind: LimitRange
        metadata: {name: defaults, namespace: "${namespace}"}
        spec:
          limits:
          - type: Container
            defaultRequest: {cpu: 300m}
            max: {cpu: "2"}
        ---
        apiVersion: node.k8s.io/v1
        kind: RuntimeClass
        metadata: {name: "sandbox-${suffix}"}
        handler: sandbox
        overhead: {podFixed: {cpu: 50m}}
        """);
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: sample, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          parallelism: 2
          completions: 2
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              runtimeClassName: "sandbox-${suffix}"
              initContainers:
              - {name: proxy, image: none, restartPolicy: Always, resources: {requests: {cpu: 100m}}}
              containers:
              - {name: defaulted, image: none}
              - {name: limited, image: none, resources: {limits: {cpu: 400m}}}
        """);

    String workload = api.workloadOf("sample");
    api.awaitField(
        "Workload", workload, "/status/admission/podSetAssignments/0/resourceUsage/cpu", "1700m");
    api.awaitUsage("1700m");

    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: forbidden, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          template:
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "2500m"}}}]
        """);
    awaitMisconfigured("forbidden");
  }

  private void awaitMisconfigured(String job) {
    api.awaitCondition("Workload", api.workloadOf(job), "QuotaReserved", "False Misconfigured");
  }

  /** Changes of 0.20, section 2: what a LimitRange refused is looked at again without it. */
  @Test
  void whatALimitRangeRefusesRunsWhenItIsChangedOrDeleted() {
    api.givenQueues(3);
    String range =
        """
        apiVersion: v1
        kind: LimitRange
        metadata: {name: limits, namespace: "${namespace}"}
        spec: {limits: [{type: Container, max: {cpu: "%s"}}]}
        """;
    cluster.applyText(range.formatted("1"));
    submitOf("changed", "requests: {cpu: 1500m}");
    submitOf("deleted", "requests: {cpu: 1400m}");
    for (String job : List.of("changed", "deleted")) {
      awaitMisconfigured(job);
    }

    cluster.applyText(range.formatted("1450m"));
    api.awaitRunning("deleted", 1);
    awaitMisconfigured("changed");
    cluster.client().limitRanges().inNamespace(cluster.namespace()).withName("limits").delete();
    api.awaitRunning("changed", 1);
  }

  /** Changes of 0.20, section 2: a ratio refuses as a maximum does. */
  @Test
  void whatTheRatioOfALimitRangeRefusesRunsWhenItIsRaised() {
    api.givenQueues(3);
    String range =
        """
        apiVersion: v1
        kind: LimitRange
        metadata: {name: limits, namespace: "${namespace}"}
        spec: {limits: [{type: Container, maxLimitRequestRatio: {cpu: "%s"}}]}
        """;
    cluster.applyText(range.formatted("2"));
    submitOf("raised", "requests: {cpu: 500m}, limits: {cpu: 1200m}");
    submitOf("open", "requests: {cpu: 500m}");
    for (String job : List.of("raised", "open")) {
      awaitMisconfigured(job);
    }
    submitOf("within", "requests: {cpu: 500m}, limits: {cpu: 1}");
    api.awaitRunning("within", 1);

    cluster.applyText(range.formatted("2500m"));
    api.awaitRunning("raised", 1);
    awaitMisconfigured("open");
  }

  private void submitOf(String name, String resources) {
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {%s}}]
        """
            .formatted(name, resources));
  }

  @Test
  void aClusterQueueAndItsFlavorAreHeldWhileTheyAreInUse() {
    api.givenQueues(1);
    String queue = cluster.name("cq");
    String flavor = cluster.name("flavor");
    api.submit("sample", 1);
    api.awaitRunning("sample", 1);

    api.delete("ClusterQueue", queue);
    api.delete("ResourceFlavor", flavor);

    api.awaitCondition("ClusterQueue", queue, "Active", "False Terminating");
    api.submit("late", 1);
    api.awaitCondition("Workload", api.workloadOf("late"), "QuotaReserved", "False Suspended");
    assertThat(api.find("ResourceFlavor", flavor)).isPresent();
    assertThat(api.get("Job", "sample").at("/spec/suspend").asBoolean()).isFalse();

    api.delete("Job", "sample");

    api.awaitGone("ClusterQueue", queue);
    api.awaitGone("ResourceFlavor", flavor);
  }

  @Test
  void aGatedJobWaitsUntilItsGatesAreCleared() {
    api.givenQueues(1);
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: gated
          labels: {kueue.x-k8s.io/queue-name: lq}
          annotations: {kueue.x-k8s.io/admission-gated-by: "example.com/budget"}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """);
    String workload = api.workloadOf("gated");
    api.awaitCondition("Workload", workload, "QuotaReserved", "False AdmissionGated");
    api.awaitEvent(workload, "AdmissionGated");

    api.patch(
        "Job",
        "gated",
        "{'metadata': {'annotations': {'kueue.x-k8s.io/admission-gated-by': null}}}");

    api.awaitRunning("gated", 1);
    api.awaitEvent(workload, "AdmissionGateCleared");
  }

  @Test
  void aJobThatRunsLongerThanItMayIsDeactivated() {
    api.givenQueues(1);
    JsonNode job =
        api.submit(
            """
            apiVersion: batch/v1
            kind: Job
            metadata:
              name: limited
              labels: {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/max-exec-time-seconds: "3"}
            spec:
              template:
                metadata: {annotations: {sluice.dev/run-for: "10m"}}
                spec:
                  restartPolicy: Never
                  containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
            """);
    assertThat(job.at("/spec/suspend").asBoolean()).isTrue();
    String workload = api.workloadOf("limited");

    api.awaitCondition(
        "Workload", workload, "Evicted", "True DeactivatedDueToMaximumExecutionTimeExceeded");
    api.awaitField("Job", "limited", "/spec/suspend", "true");
    api.awaitCondition("Workload", workload, "QuotaReserved", "False Deactivated");
    assertThat(api.get("Workload", workload).at("/spec/active").asBoolean(true)).isFalse();
    assertThat(api.condition("Workload", workload, "DeactivationTarget")).isEqualTo("absent");
    api.awaitEvent(workload, "MaximumExecutionTimeExceeded");
  }
}
