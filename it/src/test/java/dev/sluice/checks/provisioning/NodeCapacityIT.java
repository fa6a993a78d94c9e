package dev.sluice.checks.provisioning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.AutoscalerPlayer;
import dev.sluice.lab.controlplane.AutoscalerPlayer.Pool;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Nodes that a played autoscaler makes for placeholder pods, with an operator that goes and comes.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class NodeCapacityIT {

  private static final String JOB = "batch/v1/Job";
  private static final Duration LIMIT = Duration.ofMinutes(3);

  private static final String BUFFER = "autoscaling.x-k8s.io/v1beta1/CapacityBuffer";

  private static final String DEFINITION =
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata:
        name: capacitybuffers.autoscaling.x-k8s.io
        annotations: {api-approved.kubernetes.io: unapproved}
      spec:
        group: autoscaling.x-k8s.io
        names: {kind: CapacityBuffer, listKind: CapacityBufferList, plural: capacitybuffers, singular: capacitybuffer}
        scope: Namespaced
        versions:
        - name: v1beta1
          served: true
          storage: true
          subresources: {status: {}}
          schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
      """;

  private static final String QUEUES =
      """
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: AdmissionCheck
      metadata:
        name: "capacity-${suffix}"
        annotations: {sluice.dev/node-capacity-timeout: 1h}
      spec: {controllerName: sluice.dev/node-capacity}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ResourceFlavor
      metadata: {name: "spot-${suffix}"}
      spec: {nodeLabels: {pool: "spot-${suffix}"}}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ResourceFlavor
      metadata: {name: "steady-${suffix}"}
      spec: {nodeLabels: {pool: "steady-${suffix}"}}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ClusterQueue
      metadata: {name: "cq-${suffix}"}
      spec:
        namespaceSelector: {}
        admissionChecksStrategy: {admissionChecks: [{name: "capacity-${suffix}"}]}
        resourceGroups:
        - coveredResources: [cpu]
          flavors:
          - {name: "spot-${suffix}", resources: [{name: cpu, nominalQuota: "4"}]}
          - {name: "steady-${suffix}", resources: [{name: cpu, nominalQuota: "3"}]}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: LocalQueue
      metadata: {name: lq}
      spec: {clusterQueue: "cq-${suffix}"}
      """;

  private static OperatorSettings settings() {
    return OperatorSettings.onFreePorts(new SecureRandom()).withShortLease();
  }

  private static Pool pool(TestCluster cluster, String name, int limit) {
    return new Pool(
        NodeGroup.plentiful(cluster.name(name), 1)
            .withCapacity("cpu", "1")
            .withLabel("pool", cluster.name(name)),
        limit);
  }

  @Test
  void nodesComeForPlaceholdersAndARefusalLeadsToTheNextFlavor(TestCluster cluster) {
    QueuedJobs jobs = new QueuedJobs(cluster);
    try (AutoscalerPlayer _ =
        new AutoscalerPlayer(
            cluster.client(), List.of(pool(cluster, "spot", 1), pool(cluster, "steady", 3)))) {
      String refused;
      Map<String, String> before;
      try (LocalOperator _ =
          LocalOperator.start("operator-before-nodes", cluster.kubeconfig(), settings())) {
        cluster.applyText(QUEUES);
        jobs.awaitCondition("kueue.x-k8s.io/v1beta2/LocalQueue", "lq", "Active", "True");
        submit(cluster, "fits", 1);
        eventually(() -> assertThat(nodes(jobs, "fits")).containsExactly(1));
        eventually(() -> assertThat(jobs.placeholders()).isEmpty());
        submit(cluster, "big", 3);
        refused = jobs.workloadOf(JOB, "big");
        eventually(() -> assertThat(jobs.placeholders()).hasSize(3));
      }
      before = jobs.placeholders();
      String lost = before.keySet().iterator().next();
      jobs.delete("v1/Pod", lost);
      jobs.awaitGone("v1/Pod", lost);
      assertThat(jobs.get(JOB, "big").at("/spec/suspend").asBoolean()).isTrue();

      try (LocalOperator _ =
          LocalOperator.start("operator-after-nodes", cluster.kubeconfig(), settings())) {
        eventually(
            () -> {
              Map<String, String> after = jobs.placeholders();
              assertThat(after.keySet()).isEqualTo(before.keySet());
              assertThat(after.get(lost)).isNotEqualTo(before.get(lost));
              after.remove(lost);
              assertThat(before).containsAllEntriesOf(after);
            });
        timeout(cluster, "20s"); // from the first reservation on: a refusal
        eventually(
            () ->
                assertThat(jobs.get(QueuedJobs.WORKLOAD, refused).at("/metadata/annotations"))
                    .anyMatch(it -> it.asText().startsWith(cluster.name("spot") + "=")));
        timeout(cluster, "1h");
        eventually(
            () -> assertThat(flavors(jobs, refused)).containsExactly(cluster.name("steady")));
        jobs.awaitCondition(QueuedJobs.WORKLOAD, refused, "Admitted", "True");
        eventually(() -> assertThat(nodes(jobs, "big")).containsExactly(1, 1, 1));
        eventually(() -> assertThat(jobs.placeholders()).isEmpty());
        JsonNode workload = jobs.get(QueuedJobs.WORKLOAD, refused);
        assertThat(workload.at("/metadata/annotations/sluice.dev~1flavors-without-nodes").asText())
            .startsWith(cluster.name("spot") + "=");
        assertThat(workload.at("/status/schedulingStats/evictions").toString())
            .contains("AdmissionCheck")
            .doesNotContain("ExceedsAdmission");

        submit(cluster, "unwanted", 1);
        eventually(() -> assertThat(jobs.placeholders()).hasSize(1));
        anOrphanIsReplaced(cluster, jobs);
        jobs.delete(JOB, "unwanted");
        eventually(() -> assertThat(jobs.placeholders()).isEmpty());

        buffersServeWhereTheyAreServed(cluster, jobs);
      }
    }
  }

  /** As the garbage collector leaves one whose Workload is deleted with {@code orphan}. */
  private static void anOrphanIsReplaced(TestCluster cluster, QueuedJobs jobs) {
    Map<String, String> before = jobs.placeholders();
    String name = before.keySet().iterator().next();
    cluster
        .client()
        .pods()
        .inNamespace(cluster.namespace())
        .withName(name)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\": {\"ownerReferences\": null}}");
    eventually(
        () -> {
          assertThat(jobs.placeholders().keySet()).isEqualTo(before.keySet());
          assertThat(jobs.placeholders()).isNotEqualTo(before);
        });
  }

  /** Their definition comes while the operator runs; the test plays the autoscaler. */
  private static void buffersServeWhereTheyAreServed(TestCluster cluster, QueuedJobs jobs) {
    HasMetadata definition =
        cluster.client().resource(DEFINITION).fieldManager("test").serverSideApply();
    try {
      submit(cluster, "buffered", 1);
      String workload = jobs.workloadOf(JOB, "buffered");
      String name = workload + "-" + cluster.name("capacity") + "-1-main";
      eventually(
          () -> {
            assertThat(jobs.get(BUFFER, name).at("/spec"))
                .hasToString("{\"podTemplateRef\":{\"name\":\"" + name + "\"},\"replicas\":1}");
            assertThat(
                    jobs.get("v1/PodTemplate", name)
                        .at("/template/spec/containers/0/resources/requests/cpu")
                        .asText())
                .isEqualTo("1");
            assertThat(jobs.placeholders()).isEmpty();
          });
      String uid = jobs.get(BUFFER, name).at("/metadata/uid").asText();
      jobs.patch(
          "v1/PodTemplate",
          name,
          "{'template': {'spec': {'containers': [{'name': 'c', 'image': 'none'}]}}}");
      nodesCome(jobs, name);
      eventually(
          () -> assertThat(jobs.get(BUFFER, name).at("/metadata/uid").asText()).isNotEqualTo(uid));
      eventually(
          () ->
              assertThat(
                      jobs.get("v1/PodTemplate", name)
                          .at("/template/spec/containers/0/resources/requests/cpu")
                          .asText())
                  .isEqualTo("1"));
      nodesCome(jobs, name);
      jobs.awaitCondition(QueuedJobs.WORKLOAD, workload, "Admitted", "True");
      jobs.awaitGone(BUFFER, name);
    } finally {
      cluster.client().resource(definition).delete();
    }
  }

  private static void nodesCome(QueuedJobs jobs, String buffer) {
    jobs.patchStatus(
        BUFFER,
        buffer,
        "{'status': {'replicas': 1, 'conditions': [{'type': 'Provisioning', 'status': 'True',"
            + " 'reason': 'Played', 'message': '', 'lastTransitionTime':"
            + " '2026-03-01T10:00:00Z'}]}}");
  }

  private static void timeout(TestCluster cluster, String timeout) {
    cluster
        .client()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "AdmissionCheck")
        .withName(cluster.name("capacity"))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\": {\"annotations\": {\"sluice.dev/node-capacity-timeout\": \"%s\"}}}"
                .formatted(timeout));
  }

  private static void submit(TestCluster cluster, String name, int pods) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %1$s, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          parallelism: %2$d
          completions: %2$d
          template:
            metadata: {annotations: {sluice.dev/run-for: 60m}}
            spec:
              restartPolicy: Never
              containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(name, pods));
  }

  /** How many pods of a Job run on each node that has one. */
  private static List<Integer> nodes(QueuedJobs jobs, String job) {
    return jobs.pods().stream()
        .filter(
            pod -> pod.at("/metadata/labels/batch.kubernetes.io~1job-name").asText().equals(job))
        .filter(pod -> pod.at("/status/phase").asText().equals("Running"))
        .collect(Collectors.groupingBy(pod -> pod.at("/spec/nodeName").asText()))
        .values()
        .stream()
        .map(List::size)
        .toList();
  }

  private static List<String> flavors(QueuedJobs jobs, String workload) {
    return jobs.get(QueuedJobs.WORKLOAD, workload)
        .at("/status/admission/podSetAssignments/0/flavors")
        .valueStream()
        .map(JsonNode::asText)
        .toList();
  }

  private static void eventually(ThrowingRunnable assertions) {
    await()
        .atMost(LIMIT)
        .ignoreExceptionsInstanceOf(KubernetesClientException.class) // not there yet
        .untilAsserted(assertions);
  }
}
