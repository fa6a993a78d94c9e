package dev.sluice.jobs.kinds.pod;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Single pods and groups of pods in a queue, told through the API of a real control plane. */
@OperatorTest(configuration = "integrations: {frameworks: [batch/job, pod]}")
@Tag(BuildBreadth.NIGHTLY)
class PodsIT {

  private PodApi api;
  private TestCluster cluster;

  @BeforeEach
  void look(TestCluster own) {
    cluster = own;
    api = new PodApi(own);
    own.createNodes(NodeGroup.plentiful(own.name("spot"), 1).withLabel("pool", "spot"));
  }

  @Test
  void aPodWaitsForQuotaRunsOnTheNodesOfItsFlavorAndEnds() {
    api.givenQueues(1);
    pod("first", "", "1s");
    api.awaitField("Pod", "first", "/status/phase", "Running");
    pod("second", "", "10m");
    String workload = api.workloadOf("first");
    String waiting = api.workloadOf("second");

    JsonNode first = api.get("Pod", "first");
    assertThat(first.at("/spec/nodeSelector/pool").asText()).isEqualTo("spot");
    assertThat(first.at("/spec/schedulingGates").isEmpty()).isTrue();
    assertThat(first.at("/metadata/labels/kueue.x-k8s.io~1podset").asText()).isEqualTo("main");
    assertThat(first.at("/metadata/labels/kueue.x-k8s.io~1local-queue-name").asText())
        .isEqualTo("lq");
    JsonNode object = api.get("Workload", workload);
    assertThat(object.at("/spec/podSets")).hasSize(1);
    assertThat(object.at("/spec/podSets/0/name").asText()).isEqualTo("main");
    assertThat(object.at("/metadata/ownerReferences/0/controller").asBoolean()).isTrue();
    assertThat(workload).startsWith("pod-first-");

    api.awaitField("Pod", "first", "/status/phase", "Succeeded");
    api.awaitCondition("Workload", workload, "Finished", "True Succeeded");
    api.awaitField("Pod", "first", "/metadata/finalizers/0", "");
    api.awaitField("Workload", workload, "/metadata/finalizers/0", "");
    api.awaitEvents("first", "CreatedWorkload", "Started", "FinishedWorkload");

    api.awaitField("Pod", "second", "/status/phase", "Running");
    assertThat(PodApi.condition(api.get("Workload", waiting), "Admitted"))
        .isEqualTo("True Admitted");
    api.delete("Pod", "second");
    api.awaitGone("Pod", "second");
    api.awaitGone("Workload", waiting);
    api.awaitUsage("0");
  }

  @Test
  void aFailedPodHasAFailedWorkload() {
    api.givenQueues(1);
    pod("sample", "sluice.dev/exit-code: '3', ", "1s");
    String workload = api.workloadOf("sample");
    api.awaitCondition("Workload", workload, "Finished", "True Failed");
    api.awaitField("Pod", "sample", "/metadata/finalizers/0", "");
  }

  @Test
  void aPreemptedPodIsDeleted() {
    api.givenQueues(1);
    pod("low", "", "10m");
    api.awaitField("Pod", "low", "/status/phase", "Running");
    String low = api.workloadOf("low");

    api.apply(yaml("high", "", "10m").replace("restartPolicy", priority() + "restartPolicy"));

    api.awaitGone("Pod", "low");
    api.awaitGone("Workload", low);
    api.awaitField("Pod", "high", "/status/phase", "Running");
    api.awaitEvents("low", "Stopped");
    api.awaitEvents(low, "Preempted", "EvictedDueToPreempted");
    api.awaitUsage("1");
  }

  /** Its quota is free at once, and nothing admits its Workload again. */
  @Test
  void theWorkloadOfAnEvictedPodEndsWhileThePodIsHeldByAFinalizer() {
    api.givenQueues(1);
    api.apply(
        yaml("low", "", "10m")
            .replace("restartPolicy", "schedulerName: nobody\n  restartPolicy")
            .replace("  annotations", "  finalizers: [sluice.dev/hold]\n  annotations"));
    String low = api.workloadOf("low");
    api.awaitField("Pod", "low", "/spec/schedulingGates/0/name", "");

    api.apply(yaml("high", "", "10m").replace("restartPolicy", priority() + "restartPolicy"));

    api.awaitField("Pod", "high", "/status/phase", "Running");
    api.awaitCondition("Workload", low, "Finished", "True OwnerNotFound");
    api.awaitCondition("Workload", low, "Requeued", "False Preempted");
    api.awaitField("Pod", "low", "/metadata/finalizers/0", "sluice.dev/hold");
    api.awaitField("Pod", "low", "/metadata/finalizers/1", "");
    api.patch("Pod", "low", "{'metadata':{'finalizers':null}}");
    api.awaitGone("Workload", low);
    api.awaitUsage("1");
  }

  @Test
  void aPodWhoseWorkloadIsDeletedWaitsAnewWhileGatedAndGoesOnceItRuns() {
    api.givenQueues(1);
    pod("first", "", "10m");
    api.awaitField("Pod", "first", "/status/phase", "Running");
    pod("second", "", "10m");
    String waiting = api.workloadOf("second");
    String uid = api.get("Workload", waiting).at("/metadata/uid").asText();

    api.delete("Workload", waiting);
    await()
        .untilAsserted(
            () ->
                assertThat(api.get("Workload", waiting).at("/metadata/uid").asText())
                    .isNotEqualTo(uid));

    api.delete("Workload", api.workloadOf("first"));
    api.awaitGone("Pod", "first");
    api.awaitField("Pod", "second", "/status/phase", "Running");
  }

  @Test
  void aPodThatRunsIsNotResized() {
    api.givenQueues(2);
    pod("sized", "", "10m");
    api.awaitField("Pod", "sized", "/status/phase", "Running");
    // what a kubelet that can resize pods reports; the API server asks for it
    JsonNode statuses = api.get("Pod", "sized").at("/status/containerStatuses");
    ((ObjectNode) statuses.get(0)).putObject("resources").putObject("requests").put("cpu", "1");
    api.patchStatus("Pod", "sized", "{'status': {'containerStatuses': %s}}".formatted(statuses));

    for (String cpu : List.of("2", "500m")) {
      assertThatThrownBy(() -> resize(cpu))
          .isInstanceOf(KubernetesClientException.class)
          .hasMessageContaining("a pod that is queued by itself can't change");
    }
    assertThat(api.get("Pod", "sized").at("/status/phase").asText()).isEqualTo("Running");
    api.awaitUsage("1");
  }

  private void resize(String cpu) {
    cluster
        .client()
        .pods()
        .inNamespace(cluster.namespace())
        .withName("sized")
        .subresource("resize")
        .patch(
            PatchContext.of(PatchType.STRATEGIC_MERGE),
            """
            {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "%s"}}}]}}
            """
                .formatted(cpu));
  }

  private String priority() {
    return "priorityClassName: " + cluster.name("high") + "\n  ";
  }

  private void pod(String name, String annotations, String runFor) {
    api.apply(yaml(name, annotations, runFor));
  }

  private static String yaml(String name, String annotations, String runFor) {
    return """
    apiVersion: v1
    kind: Pod
    metadata:
      name: %s
      labels: {kueue.x-k8s.io/queue-name: lq}
      annotations: {%ssluice.dev/run-for: "%s"}
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: none, resources: {requests: {cpu: "1"}}}
    """
        .formatted(name, annotations, runFor);
  }
}
