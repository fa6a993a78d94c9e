package dev.sluice.jobs.kinds.pod;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Pods and Workloads of a test's namespace, and what is awaited of them. */
final class PodApi {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final TestCluster cluster;

  PodApi(TestCluster cluster) {
    this.cluster = cluster;
  }

  private Resource<GenericKubernetesResource> resource(String kind, String name) {
    String version = kind.equals("Pod") ? "v1" : "kueue.x-k8s.io/v1beta2";
    return cluster
        .client()
        .genericKubernetesResources(version, kind)
        .inNamespace(cluster.namespace())
        .withName(name);
  }

  Optional<JsonNode> find(String kind, String name) {
    return Optional.ofNullable(resource(kind, name).get()).map(PodApi::tree);
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

  JsonNode apply(String yaml) {
    return tree(cluster.applyText(yaml).getFirst());
  }

  void delete(String kind, String name) {
    resource(kind, name).delete();
  }

  /** Merges JSON, written with single quotes, into an object. */
  void patch(String kind, String name, String json) {
    resource(kind, name).patch(PatchContext.of(PatchType.JSON_MERGE), json.replace('\'', '"'));
  }

  /** Merges JSON, written with single quotes, into an object's status. */
  void patchStatus(String kind, String name, String json) {
    resource(kind, name)
        .subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE), json.replace('\'', '"'));
  }

  void awaitGone(String kind, String name) {
    await(kind + " " + name + " gone")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(find(kind, name).map(object -> object.at("/status").toString()))
                    .isEmpty());
  }

  /** Awaits that a field has a value; "" stands for absent. */
  void awaitField(String kind, String name, String pointer, String value) {
    await(kind + " " + name + " " + pointer)
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(get(kind, name).at(pointer).asText()).isEqualTo(value));
  }

  /** Awaits that a condition is so, written as "True Reason". */
  void awaitCondition(String kind, String name, String type, String wanted) {
    await(kind + " " + name + " " + type)
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              Optional<JsonNode> object = find(kind, name);
              assertThat(object.map(it -> condition(it, type)).orElse("gone"))
                  .as(() -> object.map(JsonNode::toPrettyString).orElse(""))
                  .isEqualTo(wanted);
            });
  }

  static String condition(JsonNode object, String type) {
    for (JsonNode condition : object.at("/status/conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("status").asText() + " " + condition.path("reason").asText();
      }
    }
    return "absent";
  }

  static String message(JsonNode object, String type) {
    for (JsonNode condition : object.at("/status/conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("message").asText();
      }
    }
    return "absent";
  }

  /** The only Workload that a pod owns, once there is one. */
  String workloadOf(String pod) {
    return await("Workload of Pod " + pod)
        .atMost(LIMIT)
        .until(() -> findWorkloadOf(pod), Optional::isPresent)
        .orElseThrow();
  }

  private Optional<String> findWorkloadOf(String pod) {
    return cluster
        .client()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
        .inNamespace(cluster.namespace())
        .list()
        .getItems()
        .stream()
        .filter(
            workload ->
                workload.getMetadata().getOwnerReferences().stream()
                    .anyMatch(owner -> owner.getName().equals(pod)))
        .map(workload -> workload.getMetadata().getName())
        .findFirst();
  }

  /** Awaits that events of these reasons are told of an object. */
  void awaitEvents(String name, String... reasons) {
    await("events of " + name)
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(events(name)).contains(reasons));
  }

  List<String> events(String name) {
    return cluster.events().stream()
        .filter(event -> event.getRegarding().getName().equals(name))
        .map(Event::getReason)
        .toList();
  }

  /** A flavor, a ClusterQueue with so many CPUs of it, and the LocalQueue lq before it. */
  void givenQueues(int cpus) {
    cluster.applyText(
        """
        apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata: {name: "high-${suffix}"}
        value: 100
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "flavor-${suffix}"}
        spec:
          nodeLabels: {pool: spot}
          nodeTaints: [{key: spot, value: "true", effect: NoSchedule}]
          tolerations: [{key: spot, operator: Exists, effect: NoSchedule}]
        ---
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
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: lq, namespace: "${namespace}"}
        spec: {clusterQueue: "cq-${suffix}"}
        """
            .formatted(cpus));
    awaitCondition("LocalQueue", "lq", "Active", "True Ready");
  }

  /** The CPUs in use in the ClusterQueue, as its status says. */
  void awaitUsage(String cpus) {
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
