package dev.sluice.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Jobs of any kind in a test's namespace, the queue they wait in, and what is awaited of them. A
 * kind is written as its version and kind, such as {@code batch/v1/Job}.
 */
public final class QueuedJobs {

  /** The kind of Workloads. */
  public static final String WORKLOAD = "kueue.x-k8s.io/v1beta2/Workload";

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String RUN_FOR = "/metadata/annotations/sluice.dev~1run-for";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final TestCluster cluster;

  /** In the namespace of a test. */
  public QueuedJobs(TestCluster cluster) {
    this.cluster = cluster;
  }

  private Resource<GenericKubernetesResource> resource(String kind, String name) {
    int slash = kind.lastIndexOf('/');
    return cluster
        .client()
        .genericKubernetesResources(kind.substring(0, slash), kind.substring(slash + 1))
        .inNamespace(cluster.namespace())
        .withName(name);
  }

  /** The object, if it exists. */
  public Optional<JsonNode> find(String kind, String name) {
    return Optional.ofNullable(resource(kind, name).get()).map(QueuedJobs::tree);
  }

  /** The object, which exists. */
  public JsonNode get(String kind, String name) {
    return find(kind, name).orElseThrow(() -> new AssertionError("no " + kind + " " + name));
  }

  private static JsonNode tree(Object object) {
    try {
      return JSON.readTree(Serialization.asJson(object));
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Deletes an object. */
  public void delete(String kind, String name) {
    resource(kind, name).delete();
  }

  /** Merges JSON, written with single quotes, into an object. */
  public void patch(String kind, String name, String json) {
    resource(kind, name).patch(PatchContext.of(PatchType.JSON_MERGE), json.replace('\'', '"'));
  }

  /** Merges JSON, written with single quotes, into the status of an object. */
  public void patchStatus(String kind, String name, String json) {
    resource(kind, name)
        .subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE), json.replace('\'', '"'));
  }

  /** Replaces the value at a pointer into an object by JSON. */
  public void replace(String kind, String name, String pointer, String json) {
    resource(kind, name)
        .patch(
            PatchContext.of(PatchType.JSON),
            "[{\"op\": \"replace\", \"path\": \"%s\", \"value\": %s}]".formatted(pointer, json));
  }

  /** Awaits that an object does not exist. */
  public void awaitGone(String kind, String name) {
    await(kind + " " + name + " gone")
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(find(kind, name)).isEmpty());
  }

  /** Awaits that a condition has this status. */
  public void awaitCondition(String kind, String name, String type, String status) {
    await(kind + " " + name + " " + type)
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              Optional<JsonNode> object = find(kind, name);
              assertThat(object.map(it -> condition(it, type, "status")).orElse("gone"))
                  .as(() -> object.map(JsonNode::toPrettyString).orElse(""))
                  .isEqualTo(status);
            });
  }

  /** The message of a condition. */
  public String message(String kind, String name, String type) {
    return condition(get(kind, name), type, "message");
  }

  private static String condition(JsonNode object, String type, String field) {
    for (JsonNode condition : object.at("/status/conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path(field).asText();
      }
    }
    return "absent";
  }

  private List<JsonNode> all(String version, String kind) {
    return cluster
        .client()
        .genericKubernetesResources(version, kind)
        .inNamespace(cluster.namespace())
        .list()
        .getItems()
        .stream()
        .map(QueuedJobs::tree)
        .toList();
  }

  /** The UIDs of the placeholders for nodes that aren't being deleted, by name. */
  public Map<String, String> placeholders() {
    return pods().stream()
        .filter(pod -> pod.path("metadata").path("labels").has("sluice.dev/placeholder"))
        .filter(pod -> !pod.path("metadata").has("deletionTimestamp"))
        .collect(
            Collectors.toMap(
                pod -> pod.at("/metadata/name").asText(), pod -> pod.at("/metadata/uid").asText()));
  }

  /** All pods of the namespace. */
  public List<JsonNode> pods() {
    return all("v1", "Pod");
  }

  /**
   * Ends the pods of the namespace that would run for 60m, those that come meanwhile, too, until a
   * Workload is finished. How long the steps of a test take is not known: a job that has to run
   * until one of them gets this time, and is ended by this.
   */
  public void endPodsUntilFinished(String workload) {
    await("end of " + workload)
        .atMost(LIMIT)
        .ignoreExceptionsInstanceOf(KubernetesClientException.class) // a pod is gone by now
        .until(
            () -> {
              pods().stream()
                  .filter(pod -> pod.at(RUN_FOR).asText().equals("60m"))
                  .map(pod -> pod.at("/metadata/name").asText())
                  .forEach(pod -> replace("v1/Pod", pod, RUN_FOR, "\"100ms\""));
              return condition(get(WORKLOAD, workload), "Finished", "status").equals("True");
            });
  }

  /** All Workloads of the namespace. */
  public List<JsonNode> workloads() {
    return all("kueue.x-k8s.io/v1beta2", "Workload");
  }

  /** The Workload that a job controls, once there is one. */
  public String workloadOf(String kind, String name) {
    return await("Workload of " + kind + " " + name)
        .atMost(LIMIT)
        .until(
            () ->
                workloads().stream()
                    .filter(it -> it.at("/metadata/ownerReferences/0/name").asText().equals(name))
                    .filter(it -> kind.endsWith(it.at("/metadata/ownerReferences/0/kind").asText()))
                    .map(it -> it.at("/metadata/name").asText())
                    .findFirst(),
            Optional::isPresent)
        .orElseThrow();
  }

  /** A flavor, a ClusterQueue with so many CPUs of it, the LocalQueue lq, and the class high. */
  public void givenQueues(int cpus) {
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
        metadata: {name: lq}
        spec: {clusterQueue: "cq-${suffix}"}
        """);
    setQuota(cpus);
    awaitCondition("kueue.x-k8s.io/v1beta2/LocalQueue", "lq", "Active", "True");
  }

  /** Gives the ClusterQueue so many CPUs. */
  public void setQuota(int cpus) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "cq-${suffix}"}
        spec:
          namespaceSelector: {}
          preemption: {withinClusterQueue: LowerPriority}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "flavor-${suffix}"
              resources: [{name: cpu, nominalQuota: "%d"}]
        """
            .formatted(cpus));
  }

  /** Awaits the CPUs in use in the ClusterQueue, as its status says. */
  public void awaitUsage(String cpus) {
    await("usage of the queue")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        tree(cluster
                                .client()
                                .genericKubernetesResources(
                                    "kueue.x-k8s.io/v1beta2", "ClusterQueue")
                                .withName(cluster.name("cq"))
                                .get())
                            .at("/status/flavorsUsage/0/resources/0/total")
                            .asText())
                    .isEqualTo(cpus));
  }
}
