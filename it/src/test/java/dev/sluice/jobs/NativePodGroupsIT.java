package dev.sluice.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.NodeGroup.NodeTaint;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * kube-scheduler binds all pods of a job or none, on a control plane whose API server serves
 * PodGroups and whose scheduler follows them (docs/gang-scheduling.md). The quota of each queue is
 * larger than its nodes.
 */
@ControlPlaneTest(
    exclusive = true,
    apiServerArguments = {
      "--feature-gates=GenericWorkload=true,GangScheduling=true",
      "--runtime-config=scheduling.k8s.io/v1alpha2=true"
    })
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class NativePodGroupsIT {

  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final String JOB = "batch/v1/Job";
  private static final String POD = "v1/Pod";
  private static final String POD_GROUP = "scheduling.k8s.io/v1alpha2/PodGroup";
  private static final String WISH = "kueue.x-k8s.io/was-podgroup: 'true'";

  private static LocalOperator operator;

  private TestCluster cluster;
  private QueuedJobs jobs;

  @BeforeAll
  static void start(ControlPlane controlPlane) {
    operator =
        LocalOperator.start(
            "podgroups",
            controlPlane.kubeconfig(),
            """
            featureGates: {WASPodGroups: true}
            integrations: {frameworks: [batch/job]}
            """);
  }

  @AfterAll
  static void stop() {
    operator.close();
  }

  @BeforeEach
  void queue(TestCluster given) {
    cluster = given;
    jobs = new QueuedJobs(given);
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "pool-${suffix}"}
        spec:
          nodeLabels: {pool: "pool-${suffix}"}
          tolerations: [{key: pool, operator: Exists, effect: NoSchedule}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "cq-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "pool-${suffix}"
              resources: [{name: cpu, nominalQuota: "100"}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: lq}
        spec: {clusterQueue: "cq-${suffix}"}
        """);
  }

  /** A node of the pool with so many CPUs, for pods of this test alone. */
  private void node(String stem, int cpus) {
    cluster.createNodes(
        NodeGroup.plentiful(cluster.name(stem), 1)
            .withCapacity("cpu", Integer.toString(cpus))
            .withLabel("pool", cluster.name("pool"))
            .withTaint(new NodeTaint("pool", cluster.name("pool"), "NoSchedule")));
  }

  private void job(String name, String annotations, int parallelism, int completions) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: lq}
          annotations: {%s}
        spec:
          parallelism: %d
          completions: %d
          template:
            metadata: {annotations: {sluice.dev/run-for: "60m"}}
            spec:
              restartPolicy: Never
              containers:
              - {name: main, image: none, resources: {requests: {cpu: "1"}}}
        """
            .formatted(name, annotations, parallelism, completions));
  }

  /** The pods of a job that haven't ended and aren't being deleted. */
  private List<JsonNode> pods(String job) {
    return jobs.pods().stream()
        .filter(
            pod ->
                pod.at("/metadata/labels").path("batch.kubernetes.io/job-name").asText().equals(job)
                    && pod.at("/metadata/deletionTimestamp").isMissingNode()
                    && !List.of("Succeeded", "Failed").contains(pod.at("/status/phase").asText()))
        .toList();
  }

  private long bound(String job) {
    return pods(job).stream().filter(pod -> pod.at("/spec/nodeName").isTextual()).count();
  }

  private void awaitBound(String job, int pods) {
    await("nodes of " + job)
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(pods(job)).hasSize(pods);
              assertThat(bound(job)).as(() -> pods(job).toString()).isEqualTo(pods);
            });
  }

  /** The name of the PodGroup of a job's pods, once there are so many of them. */
  private String podGroupOf(String job, int pods) {
    await("pods of " + job).atMost(LIMIT).untilAsserted(() -> assertThat(pods(job)).hasSize(pods));
    List<String> names =
        pods(job).stream()
            .map(pod -> pod.at("/spec/schedulingGroup/podGroupName").asText())
            .distinct()
            .toList();
    assertThat(names).hasSize(1).doesNotContain("");
    return names.getFirst();
  }

  /** Awaits that kube-scheduler has said of a job's PodGroup whether it has nodes for it. */
  private void awaitVerdict(String podGroup, String status) {
    jobs.awaitCondition(POD_GROUP, podGroup, "PodGroupScheduled", status);
  }

  private static String name(JsonNode object) {
    return object.at("/metadata/name").asText();
  }

  private void end(JsonNode pod, String phase) {
    jobs.patchStatus(POD, name(pod), "{'status': {'phase': '" + phase + "'}}");
  }

  @Test
  void allPodsAreBoundOrNone() {
    node("small", 2);
    job("gang", WISH, 4, 4);
    String podGroup = podGroupOf("gang", 4);
    JsonNode made = jobs.get(POD_GROUP, podGroup);
    assertThat(made.at("/spec/schedulingPolicy/gang/minCount").asInt()).isEqualTo(4);
    assertThat(made.at("/metadata/ownerReferences/0/name").asText())
        .isEqualTo(jobs.workloadOf(JOB, "gang"));

    awaitVerdict(podGroup, "False");
    // Pods of a job that didn't ask for it take the room that there is, which shows that there is.
    job("plain", "", 2, 2);
    awaitBound("plain", 2);
    assertThat(bound("gang")).isZero();
    jobs.delete(JOB, "plain");

    node("large", 2);
    awaitBound("gang", 4);
    awaitVerdict(podGroup, "True");
  }

  @Test
  void twoJobsDoNotTakeHalfOfTheRoomEach() {
    job("one", WISH, 3, 3);
    job("two", WISH, 3, 3);
    List<String> podGroups = List.of(podGroupOf("one", 3), podGroupOf("two", 3));
    podGroups.forEach(each -> awaitVerdict(each, "False"));
    node("room", 4);
    await("nodes of one of them")
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(bound("one") + bound("two")).isEqualTo(3));
    String first = bound("one") == 3 ? "one" : "two";
    String second = first.equals("one") ? "two" : "one";
    assertThat(bound(second)).isZero();

    for (JsonNode pod : pods(first)) {
      end(pod, "Succeeded");
    }
    awaitBound(second, 3);
  }

  @Test
  void aReplacementAndALaterPodWaitForNoOthers() {
    node("room", 3);
    job("gang", WISH, 3, 4);
    String podGroup = podGroupOf("gang", 3);
    awaitBound("gang", 3);
    awaitVerdict(podGroup, "True");
    List<JsonNode> first = new ArrayList<>(pods("gang"));
    // Of the pods that were bound together none is left: kube-scheduler would wait for three.
    end(first.get(0), "Succeeded");
    end(first.get(1), "Succeeded");
    end(first.get(2), "Failed");
    awaitBound("gang", 2);
    for (JsonNode pod : pods("gang")) {
      assertThat(pod.at("/spec/schedulingGroup").isMissingNode()).isTrue();
      end(pod, "Succeeded");
    }
    jobs.awaitCondition(JOB, "gang", "Complete", "True");
  }

  @Test
  void aJobThatWasStoppedIsBoundWholeAgain() {
    node("room", 4);
    job("gang", WISH, 4, 4);
    String podGroup = podGroupOf("gang", 4);
    awaitBound("gang", 4);
    awaitVerdict(podGroup, "True");
    String workload = jobs.workloadOf(JOB, "gang");
    String uid = jobs.get(POD_GROUP, podGroup).at("/metadata/uid").asText();
    end(pods("gang").getFirst(), "Succeeded");
    await("the job to know that a pod has ended")
        .atMost(LIMIT)
        .until(() -> jobs.get(JOB, "gang").at("/status/succeeded").asInt() == 1);

    jobs.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': false}}");
    await("the stop").atMost(LIMIT).until(() -> pods("gang").isEmpty());
    jobs.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': true}}");

    // One of four is done: three come, and the new PodGroup waits for no more.
    assertThat(podGroupOf("gang", 3)).isEqualTo(podGroup);
    awaitBound("gang", 3);
    JsonNode second = jobs.get(POD_GROUP, podGroup);
    assertThat(second.at("/metadata/uid").asText()).isNotEqualTo(uid);
    assertThat(second.at("/spec/schedulingPolicy/gang/minCount").asInt()).isEqualTo(3);
  }

  @Test
  void thePodGroupGoesWithTheJob() {
    node("room", 2);
    job("gang", WISH, 2, 2);
    String podGroup = podGroupOf("gang", 2);
    awaitBound("gang", 2);
    jobs.delete(JOB, "gang");
    jobs.awaitGone(POD_GROUP, podGroup);
    assertThat(Optional.of(jobs.workloads())).contains(List.of());
  }
}
