package dev.sluice.jobs.kinds.statefulset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.awaitility.core.ConditionFactory;

/** What serves in a test's namespace, its pods and Workloads, and what is awaited of them. */
final class ServingApi {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Map<String, String> VERSIONS =
      Map.of("Pod", "v1", "StatefulSet", "apps/v1", "Deployment", "apps/v1");

  private final TestCluster cluster;

  ServingApi(TestCluster cluster) {
    this.cluster = cluster;
  }

  private NonNamespaceOperation<
          GenericKubernetesResource,
          ?,
          io.fabric8.kubernetes.client.dsl.Resource<GenericKubernetesResource>>
      resources(String kind) {
    return cluster
        .client()
        .genericKubernetesResources(VERSIONS.getOrDefault(kind, "kueue.x-k8s.io/v1beta2"), kind)
        .inNamespace(cluster.namespace());
  }

  Optional<JsonNode> find(String kind, String name) {
    return Optional.ofNullable(resources(kind).withName(name).get()).map(ServingApi::tree);
  }

  JsonNode get(String kind, String name) {
    return find(kind, name).orElseThrow(() -> new AssertionError("no " + kind + " " + name));
  }

  private static JsonNode tree(Object object) {
    try {
      return JSON.readTree(Serialization.asJson(object));
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  List<JsonNode> all(String kind) {
    return tree(resources(kind).list()).path("items").valueStream().toList();
  }

  void delete(String kind, String name) {
    resources(kind).withName(name).delete();
  }

  /** Merges JSON, written with single quotes, into an object. */
  void patch(String kind, String name, String json) {
    resources(kind)
        .withName(name)
        .patch(PatchContext.of(PatchType.JSON_MERGE), json.replace('\'', '"'));
  }

  void patchStatus(String kind, String name, String json) {
    resources(kind)
        .withName(name)
        .subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE), json.replace('\'', '"'));
  }

  /** Changes the number of replicas as {@code kubectl scale} does. */
  void scale(String kind, String name, int replicas) {
    resources(kind)
        .withName(name)
        .subresource("scale")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"replicas\":%d}}".formatted(replicas));
  }

  static ConditionFactory soon(String what) {
    return await(what).atMost(LIMIT);
  }

  /** Awaits that there are so many pods in each phase, those at their gates apart. */
  void awaitPods(Map<String, Integer> wanted) {
    soon("pods")
        .untilAsserted(
            () ->
                assertThat(pods())
                    .as(() -> all("Pod") + "\n" + all("Workload"))
                    .isEqualTo(new TreeMap<>(wanted)));
  }

  Map<String, Integer> pods() {
    Map<String, Integer> phases = new TreeMap<>();
    for (JsonNode pod : all("Pod")) {
      phases.merge(phase(pod), 1, Integer::sum);
    }
    return phases;
  }

  private static String phase(JsonNode pod) {
    if (pod.at("/metadata").has("deletionTimestamp")) {
      return "Leaving";
    }
    return isGated(pod) ? "Gated" : pod.at("/status/phase").asText();
  }

  static boolean isGated(JsonNode pod) {
    return pod.at("/spec/schedulingGates")
        .findValuesAsText("name")
        .contains("kueue.x-k8s.io/admission");
  }

  /** The only Workload, once there is just one. */
  JsonNode workload() {
    return soon("Workload").until(() -> all("Workload"), found -> found.size() == 1).getFirst();
  }

  /** Awaits that a condition of a Workload is so, written as "True Reason". */
  void awaitCondition(String kind, String name, String type, String wanted) {
    soon(kind + " " + name + " " + type)
        .untilAsserted(
            () ->
                assertThat(find(kind, name).map(it -> condition(it, type)).orElse("gone"))
                    .isEqualTo(wanted));
  }

  static String condition(JsonNode object, String type) {
    for (JsonNode condition : object.at("/status/conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("status").asText() + " " + condition.path("reason").asText();
      }
    }
    return "absent";
  }

  /** A flavor, a ClusterQueue with so many CPUs of it, and the LocalQueues lq and other. */
  void givenQueues(int cpus) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "flavor-${suffix}"}
        spec: {nodeLabels: {pool: "${suffix}"}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "cq-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "flavor-${suffix}"
              resources: [{name: cpu, nominalQuota: "%d"}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: lq, namespace: "${namespace}"}
        spec: {clusterQueue: "cq-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: other, namespace: "${namespace}"}
        spec: {clusterQueue: "cq-${suffix}"}
        """
            .formatted(cpus));
    awaitCondition("LocalQueue", "lq", "Active", "True Ready");
    awaitCondition("LocalQueue", "other", "Active", "True Ready");
  }

  /** Gives the ClusterQueue another amount of CPUs. */
  void setQuota(int cpus) {
    cluster
        .client()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "ClusterQueue")
        .withName(cluster.name("cq"))
        .patch(
            PatchContext.of(PatchType.JSON),
            "[{\"op\":\"replace\",\"path\":"
                + "\"/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota\",\"value\":\""
                + cpus
                + "\"}]");
  }

  /** Awaits how many CPUs are in use in the ClusterQueue, as its status says. */
  void awaitUsage(String cpus) {
    soon("usage of the queue")
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

  /** A Deployment or StatefulSet of pods with one CPU each. */
  void serve(String kind, String name, int replicas, String more) {
    cluster.applyText(yaml(kind, name, replicas, more));
  }

  private String yaml(String kind, String name, int replicas, String more) {
    return """
    apiVersion: apps/v1
    kind: %s
    metadata:
      name: %s
      labels: {kueue.x-k8s.io/queue-name: lq}
    spec:
      replicas: %d
      %s
      selector: {matchLabels: {app: %s}}
      template:
        metadata:
          labels: {app: %s}
        spec:
          terminationGracePeriodSeconds: 0
          containers:
          - {name: main, image: "none:1", resources: {requests: {cpu: "1"}}}
    """
        .formatted(kind, name, replicas, more, name, name);
  }
}
