package dev.sluice.kinds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.NodeGroup.NodeTaint;
import dev.sluice.lab.player.KindManifest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.awaitility.core.ThrowingRunnable;

/**
 * The life of one job, of whatever kind, in a namespace with two queues: what is done to it, and
 * what is awaited of it.
 */
final class KindLife {

  /** The queue that the manifests name, and another one. */
  static final String QUEUE = "team-a";

  static final String OTHER_QUEUE = "team-b";

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String GATE = "kueue.x-k8s.io/admission";

  private final TestCluster cluster;
  private final QueuedJobs api;
  private final KindRow row;
  private KindManifest submitted;

  KindLife(TestCluster cluster, KindRow row) {
    this.cluster = cluster;
    this.api = new QueuedJobs(cluster);
    this.row = row;
    this.submitted = row.manifest();
  }

  private void soon(String what, ThrowingRunnable assertion) {
    await(row.name() + ": " + what).atMost(LIMIT).untilAsserted(assertion);
  }

  /** Two ClusterQueues with so many CPUs, a LocalQueue of each, and the priority class high. */
  void givenQueues(int cpus, int others) {
    cluster.createNodes(
        NodeGroup.plentiful(cluster.name("node"), 1)
            .withLabel("pool", "spot")
            .withTaint(new NodeTaint("spot", "true", "NoSchedule")));
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: "high-${suffix}"}
        value: 100
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "flavor-${suffix}"}
        spec:
          nodeLabels: {pool: spot}
          tolerations: [{key: spot, operator: Exists, effect: NoSchedule}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: team-a}
        spec: {clusterQueue: "team-a-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: team-b}
        spec: {clusterQueue: "team-b-${suffix}"}
        """);
    setQuota(OTHER_QUEUE, others);
    setQuota(QUEUE, cpus);
    for (String queue : List.of(QUEUE, OTHER_QUEUE)) {
      api.awaitCondition("kueue.x-k8s.io/v1beta2/LocalQueue", queue, "Active", "True");
    }
  }

  void setQuota(String queue, int cpus) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "%s-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu, memory]
            flavors:
            - name: "flavor-${suffix}"
              resources: [{name: cpu, nominalQuota: "%d"}, {name: memory, nominalQuota: 1Ti}]
        """
            .formatted(queue, cpus));
  }

  /** Creates the objects, each of which says that it isn't suspended. */
  void submit(KindManifest manifest) {
    submitted =
        row.suspends()
            ? manifest.changed(
                object -> {
                  if (manifest.name().equals(row.name()) && isJob(object)) {
                    unsuspend(object, row.description().suspendField());
                  }
                })
            : manifest;
    submitted.objects().forEach(object -> cluster.applyText(object.toString()));
  }

  private boolean isJob(ObjectNode object) {
    return object.path("kind").asText().equals(row.description().kind().kind());
  }

  private static void unsuspend(ObjectNode object, List<String> path) {
    ObjectNode parent = object;
    for (String field : path.subList(0, path.size() - 1)) {
      parent = parent.withObjectProperty(field);
    }
    parent.put(path.getLast(), false);
  }

  private List<String> names() {
    return submitted.jobs().stream().map(job -> job.at("/metadata/name").asText()).toList();
  }

  /** The object itself, or the first pod of a group. */
  JsonNode job() {
    return api.get(row.type(), names().getFirst());
  }

  /** Merges a label into the job, and into each pod of a group. */
  void label(String key, String value) {
    for (String name : names()) {
      api.patch(row.type(), name, "{'metadata': {'labels': {'%s': '%s'}}}".formatted(key, value));
    }
  }

  /** Deletes the job. */
  void delete() {
    names().forEach(name -> api.delete(row.type(), name));
  }

  private List<JsonNode> workloads() {
    return api.workloads().stream()
        .filter(workload -> !workload.path("metadata").has("deletionTimestamp"))
        .toList();
  }

  /** Awaits as many Workloads as the job has, and this of each. */
  void awaitWorkloads(String what, Consumer<JsonNode> assertion) {
    soon(
        what, () -> assertThat(workloads()).hasSize(row.workloads()).allSatisfy(assertion::accept));
  }

  void awaitCondition(String type, String status) {
    awaitWorkloads(
        type + "=" + status,
        workload -> assertThat(condition(workload, type, "status")).isEqualTo(status));
  }

  static String condition(JsonNode object, String type, String field) {
    for (JsonNode condition : object.at("/status/conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path(field).asText();
      }
    }
    return "absent";
  }

  /** Awaits that one Workload per object has ended for this reason, and that quota is free. */
  void awaitEnd(String reason) {
    awaitWorkloads(
        "its end",
        workload -> {
          assertThat(condition(workload, "Finished", "status")).isEqualTo("True");
          assertThat(condition(workload, "Finished", "reason")).isEqualTo(reason);
        });
    awaitUsage(QUEUE, "0");
  }

  /** The pods that neither end nor have ended. */
  private List<JsonNode> pods() {
    return api.pods().stream()
        .filter(pod -> !pod.path("metadata").has("deletionTimestamp"))
        .filter(pod -> !List.of("Succeeded", "Failed").contains(pod.at("/status/phase").asText()))
        .toList();
  }

  /** Awaits that the job waits: suspended without pods, or with pods that are gated. */
  void awaitHeld() {
    awaitWorkloads(
        "why it waits",
        workload -> {
          assertThat(condition(workload, "QuotaReserved", "status")).isEqualTo("False");
          assertThat(condition(workload, "QuotaReserved", "message")).contains("cpu");
        });
    awaitStopped();
  }

  /** Awaits that it is suspended without pods, or has gated pods only. */
  void awaitStopped() {
    soon(
        "waits",
        () -> {
          if (row.suspends()) {
            assertThat(job().at(row.suspendPointer()).asBoolean()).isTrue();
            assertThat(pods()).isEmpty();
          } else {
            assertThat(pods())
                .allSatisfy(
                    pod ->
                        assertThat(pod.at("/spec/schedulingGates").findValuesAsText("name"))
                            .contains(GATE));
          }
        });
  }

  /** Awaits that the object is specified as before, in each byte. */
  void awaitSpec(JsonNode spec) {
    soon(
        "its templates as they were",
        () -> assertThat(job().path("spec").toString()).isEqualTo(spec.toString()));
  }

  /** Awaits that pods of all pod sets run where the flavor says. */
  void awaitPods() {
    soon(
        "pods of each pod set",
        () -> {
          Map<String, Integer> wanted = new TreeMap<>();
          workloads()
              .forEach(
                  workload ->
                      workload
                          .at("/spec/podSets")
                          .forEach(
                              set ->
                                  wanted.merge(
                                      set.path("name").asText(),
                                      set.path("count").asInt(),
                                      Integer::sum)));
          Map<String, Integer> found = new TreeMap<>();
          pods()
              .forEach(
                  pod ->
                      found.merge(
                          pod.at("/metadata/labels/kueue.x-k8s.io~1podset").asText(),
                          1,
                          Integer::sum));
          assertThat(found).isNotEmpty().isEqualTo(wanted);
          assertThat(pods())
              .allSatisfy(
                  pod -> {
                    assertThat(pod.at("/status/phase").asText()).isEqualTo("Running");
                    assertThat(pod.at("/spec/nodeSelector/pool").asText()).isEqualTo("spot");
                    assertThat(pod.at("/spec/tolerations").findValuesAsText("key"))
                        .contains("spot");
                    assertThat(pod.at("/metadata/labels/kueue.x-k8s.io~1local-queue-name").asText())
                        .isIn(QUEUE, OTHER_QUEUE);
                  });
        });
  }

  List<String> podUids() {
    return pods().stream().map(pod -> pod.at("/metadata/uid").asText()).toList();
  }

  /** Awaits that other pods than these run. */
  void awaitPodsInPlaceOf(List<String> uids) {
    soon("other pods", () -> assertThat(podUids()).isNotEmpty().doesNotContainAnyElementsOf(uids));
    awaitPods();
  }

  /** Switches all Workloads on or off. */
  void activate(boolean active) {
    for (JsonNode workload : workloads()) {
      api.patch(
          QueuedJobs.WORKLOAD,
          workload.at("/metadata/name").asText(),
          "{'spec': {'active': " + active + "}}");
    }
  }

  /** Has one pod, or all pods, that end by themselves end with success now. */
  void endPods(boolean all) {
    pods().stream()
        .filter(pod -> pod.at("/metadata/annotations").has("sluice.dev/run-for"))
        .limit(all ? Long.MAX_VALUE : 1)
        .map(pod -> pod.at("/metadata/name").asText())
        .forEach(this::end);
  }

  private void end(String pod) {
    try {
      cluster
          .client()
          .pods()
          .inNamespace(cluster.namespace())
          .withName(pod)
          .subresource("status")
          .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\":{\"phase\":\"Succeeded\"}}");
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND) {
        throw e;
      }
    }
  }

  /** Awaits that the one Workload gives back one pod of those it was admitted with. */
  void awaitReclaimed() {
    int before =
        workloads()
            .getFirst()
            .at("/status/admission/podSetAssignments")
            .findValues("count")
            .stream()
            .mapToInt(JsonNode::asInt)
            .sum();
    awaitWorkloads(
        "a pod that is given back",
        workload ->
            assertThat(workload.at("/status/reclaimablePods/0/count").asInt()).isEqualTo(1));
    awaitUsage(QUEUE, Integer.toString(before - 1));
  }

  /** Awaits the CPUs in use in a queue, as its status says. */
  void awaitUsage(String queue, String cpus) {
    soon(
        "usage of " + queue,
        () ->
            assertThat(
                    new ObjectMapper()
                        .<JsonNode>valueToTree(
                            cluster
                                .client()
                                .genericKubernetesResources(
                                    "kueue.x-k8s.io/v1beta2", "ClusterQueue")
                                .withName(cluster.name(queue))
                                .get())
                        .at("/status/flavorsUsage/0/resources/0/total")
                        .asText())
                .isEqualTo(cpus));
  }

  /** Awaits that there are neither pods nor Workloads, and that no quota is used. */
  void awaitNothingLeft() {
    soon(
        "nothing left",
        () -> {
          assertThat(api.workloads()).isEmpty();
          assertThat(pods()).isEmpty();
        });
    awaitUsage(QUEUE, "0");
    awaitUsage(OTHER_QUEUE, "0");
    for (String name : names()) {
      api.awaitGone(row.type(), name);
    }
  }
}
