package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.ObjectChange;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Jobs whose pods have devices by resource claims (docs/devices.md), in a ClusterQueue of their
 * own: what an operator of the same API has admitted, and what happens to them under the next one.
 *
 * @param cluster whose nodes have label {@code pool: spot}
 * @param count how many run, by turns one pod with a claim of two devices, and two pods with two
 *     claims of one each: 2 or 4 devices
 */
record DeviceJobs(TestCluster cluster, int count) {

  /** What the operator's configuration has for them. */
  static final String CONFIGURATION =
      "resources: {deviceClassMappings: [{name: example.com/gpus,"
          + " deviceClassNames: [gpu.example.com]}]}";

  private static final Duration LIMIT = Duration.ofMinutes(10);

  /** A ResourceSlice may list 128. */
  private static final int DEVICES_OF_A_SLICE = 100;

  private static final String WAITING = "claims-wait";
  private static final ObjectMapper JSON = new ObjectMapper();

  /** How many pods they have. */
  int pods() {
    return count + count / 2;
  }

  private int devices() {
    return 2 * count + count / 2 * 2;
  }

  private static boolean isPair(int number) {
    return number % 2 == 1;
  }

  private static String name(int number) {
    return "claims-%03d".formatted(number);
  }

  /** Devices, the queue that has quota for just these, Jobs that run, and two that wait. */
  void run(EarlierOperator earlier) throws IOException {
    int slices = devices() / DEVICES_OF_A_SLICE + 1;
    for (int slice = 0; slice < slices; slice++) {
      StringBuilder devices = new StringBuilder();
      for (int device = 0; device < DEVICES_OF_A_SLICE; device++) {
        devices.append("  - {name: gpu-%d-%d}\n".formatted(slice, device));
      }
      cluster.applyText(
          """
          apiVersion: resource.k8s.io/v1
          kind: ResourceSlice
          metadata: {name: "devices-%d"}
          spec:
            driver: gpu.example.com
            allNodes: true
            pool: {name: devices, generation: 1, resourceSliceCount: %d}
            devices:
          """
                  .formatted(slice, slices)
              + devices);
    }
    cluster.applyText(
        """
        apiVersion: resource.k8s.io/v1
        kind: DeviceClass
        metadata: {name: gpu.example.com}
        spec: {}
        ---
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaimTemplate
        metadata: {name: gpu}
        spec:
          spec:
            devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}
        ---
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaimTemplate
        metadata: {name: two-gpus}
        spec:
          spec:
            devices:
              requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com, count: 2}}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: devices, finalizers: [kueue.x-k8s.io/resource-in-use]}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu, example.com/gpus]
            flavors:
            - name: spot
              resources:
              - {name: cpu, nominalQuota: 1000}
              - {name: example.com/gpus, nominalQuota: %d}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: claims}
        spec: {clusterQueue: devices}
        """
            .formatted(devices()));
    for (int i = 0; i < count; i++) {
      earlier.running(
          isPair(i) ? job(name(i), 2, List.of("gpu", "gpu")) : job(name(i), 1, List.of("two-gpus")),
          "devices",
          isPair(i) ? usage(2, 4) : usage(1, 2));
    }
    earlier.pending(job(WAITING + "-0", 1, List.of("two-gpus")), usage(1, 2));
    earlier.pending(job(WAITING + "-1", 2, List.of("gpu", "gpu")), usage(2, 4));
  }

  private static String usage(int cpus, int devices) {
    return "{\"cpu\": \"%d\", \"example.com/gpus\": \"%d\"}".formatted(cpus, devices);
  }

  private Job job(String name, int pods, List<String> templates) {
    List<String> claims = new ArrayList<>();
    for (int i = 0; i < templates.size(); i++) {
      claims.add("{name: c%d, resourceClaimTemplateName: %s}".formatted(i, templates.get(i)));
    }
    return (Job)
        cluster
            .applyText(
                """
                apiVersion: batch/v1
                kind: Job
                metadata:
                  name: %s
                  labels:
                    kueue.x-k8s.io/queue-name: claims
                    kueue.x-k8s.io/priority-class: usual
                spec:
                  suspend: true
                  parallelism: %d
                  completions: %2$d
                  template:
                    metadata: {annotations: {sluice.dev/run-for: 10h}}
                    spec:
                      restartPolicy: Never
                      terminationGracePeriodSeconds: 1
                      resourceClaims: %s
                      containers:
                      - name: main
                        image: none
                        resources: {requests: {cpu: "1"}, claims: [%s]}
                """
                    .formatted(
                        name,
                        pods,
                        claims,
                        claims.stream()
                            .map(claim -> claim.replaceFirst(",.*", "}"))
                            .collect(Collectors.joining(", "))))
            .getFirst();
  }

  /** The admission of each Workload that has one, as the API server stores it, by name. */
  Map<String, JsonNode> admissions() {
    return new EarlierOperator(cluster)
        .workloads().stream()
            .filter(it -> it.getMetadata().getName().startsWith("job-claims-"))
            .filter(it -> it.get("status", "admission") != null)
            .collect(
                Collectors.toMap(
                    it -> it.getMetadata().getName(),
                    it -> JSON.valueToTree(it.get("status", "admission"))));
  }

  /** What the ClusterQueue says is in use: CPUs, devices and Workloads. */
  private List<Integer> charged() {
    JsonNode status =
        JSON.<JsonNode>valueToTree(
                cluster
                    .client()
                    .genericKubernetesResources(AuditedKind.CLUSTER_QUEUE.context())
                    .withName("devices")
                    .require())
            .path("status");
    JsonNode resources = status.at("/flavorsReservation/0/resources");
    return List.of(
        resources.at("/0/total").asInt(),
        resources.at("/1/total").asInt(),
        status.path("admittedWorkloads").asInt());
  }

  /**
   * Expects that what runs is charged as it was, and that devices are given back: those of a Job
   * that ends to the first that waits, and those of one that is deleted to the second.
   *
   * @param before the admissions that the earlier operator has written
   */
  void areChargedAsBeforeAndGivenBack(Map<String, JsonNode> before) {
    assertThat(before).hasSize(count);
    await()
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(charged()).isEqualTo(List.of(pods(), devices(), count)));
    assertThat(claims()).as("each pod has its claims, and each claim devices").isEqualTo(devices());
    assertThat(admissions()).isEqualTo(before);

    finish(name(0));
    awaitAdmitted(WAITING + "-0", usage(1, 2));
    cluster
        .client()
        .batch()
        .v1()
        .jobs()
        .inNamespace(cluster.namespace())
        .withName(name(1))
        .delete();
    awaitAdmitted(WAITING + "-1", usage(2, 4));

    await()
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(charged()).isEqualTo(List.of(pods(), devices(), count)));
    assertThat(admissions())
        .as("of the others")
        .containsAllEntriesOf(
            before.entrySet().stream()
                .filter(it -> !it.getKey().startsWith("job-" + name(0)))
                .filter(it -> !it.getKey().startsWith("job-" + name(1)))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
  }

  /** How many devices the claims of pods have got. */
  private int claims() {
    return cluster
        .client()
        .genericKubernetesResources("resource.k8s.io/v1", "ResourceClaim")
        .inNamespace(cluster.namespace())
        .list()
        .getItems()
        .stream()
        .map(it -> JSON.<JsonNode>valueToTree(it.get("status", "allocation", "devices")))
        .mapToInt(it -> it.path("results").size())
        .sum();
  }

  /** As its kubelet would: the pod of the Job has succeeded. */
  private void finish(String job) {
    var pods = cluster.client().pods().inNamespace(cluster.namespace());
    Pod pod = pods.withLabel("job-name", job).list().getItems().getFirst();
    pods.withName(pod.getMetadata().getName())
        .subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\": {\"phase\": \"Succeeded\"}}");
  }

  private void awaitAdmitted(String job, String usage) {
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(admissions())
                    .anySatisfy(
                        (name, admission) -> {
                          assertThat(name).startsWith("job-" + job);
                          assertThat(admission.at("/podSetAssignments/0/resourceUsage").toString())
                              .isEqualTo(usage.replace(" ", ""));
                        }));
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        cluster
                            .client()
                            .pods()
                            .inNamespace(cluster.namespace())
                            .withLabel("job-name", job)
                            .list()
                            .getItems())
                    .isNotEmpty()
                    .allSatisfy(it -> assertThat(it.getStatus().getPhase()).isEqualTo("Running")));
  }

  /** Expects that none of these Workloads ever lost its admission before it had ended. */
  static void wereNeverEvicted(List<ObjectChange> history) {
    assertThat(history)
        .filteredOn(change -> change.kind() == AuditedKind.WORKLOAD)
        .filteredOn(
            change -> change.object().at("/metadata/name").asText().startsWith("job-claims-"))
        .isNotEmpty()
        .allSatisfy(
            change ->
                assertThat(change.object().path("status").toString()).doesNotContain("Evicted"));
  }
}
