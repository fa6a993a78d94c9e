package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceList;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/** The cluster as people see it: objects by kind and name, as JSON, and what is awaited of them. */
final class Api {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String QUEUES = "kueue.x-k8s.io/v1beta2";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final TestCluster cluster;

  Api(TestCluster cluster) {
    this.cluster = cluster;
  }

  private Resource<GenericKubernetesResource> resource(String kind, String name) {
    String version = kind.equals("Job") ? "batch/v1" : QUEUES;
    MixedOperation<
            GenericKubernetesResource,
            GenericKubernetesResourceList,
            Resource<GenericKubernetesResource>>
        objects = cluster.client().genericKubernetesResources(version, kind);
    boolean namespaced = List.of("Job", "Workload", "LocalQueue").contains(kind);
    return namespaced
        ? objects.inNamespace(cluster.namespace()).withName(name)
        : objects.withName(name);
  }

  Optional<JsonNode> find(String kind, String name) {
    return Optional.ofNullable(resource(kind, name).get()).map(Api::tree);
  }

  private static JsonNode tree(Object object) {
    try {
      return JSON.readTree(Serialization.asJson(object));
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  JsonNode get(String kind, String name) {
    return find(kind, name).orElseThrow(() -> new AssertionError("no " + kind + " " + name));
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

  /** Applies one admission check's entry, as the controller of that check does. */
  void answerCheck(String workload, String check, String fields) {
    resource("Workload", workload)
        .subresource("status")
        .patch(
            new PatchContext.Builder()
                .withPatchType(PatchType.SERVER_SIDE_APPLY)
                .withFieldManager("example.test/" + check)
                .withForce(true)
                .build(),
            """
            {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
             "metadata": {"name": "%s", "namespace": "%s"},
             "status": {"admissionChecks": [{"name": "%s", "lastTransitionTime": "%s", %s}]}}
            """
                .formatted(
                    workload,
                    cluster.namespace(),
                    check,
                    Instant.now().truncatedTo(ChronoUnit.SECONDS),
                    fields.replace('\'', '"')));
  }

  /** The state of an admission check in a Workload's status; "absent" if it isn't named there. */
  String check(String workload, String check) {
    for (JsonNode each : get("Workload", workload).at("/status/admissionChecks")) {
      if (each.path("name").asText().equals(check)) {
        return each.path("state").asText();
      }
    }
    return "absent";
  }

  /** Awaits that an admission check is in this state. */
  void awaitCheck(String workload, String check, String state) {
    await(workload + " " + check)
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(check(workload, check)).isEqualTo(state));
  }

  void delete(String kind, String name) {
    resource(kind, name).delete();
  }

  /** Deletes an object and lets go of what it owns. */
  void deleteAlone(String kind, String name) {
    resource(kind, name).withPropagationPolicy(DeletionPropagation.ORPHAN).delete();
  }

  void awaitGone(String kind, String name) {
    await(kind + " " + name + " gone")
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(find(kind, name)).isEmpty());
  }

  /** Awaits that a field has a value; "" stands for absent. */
  void awaitField(String kind, String name, String pointer, String value) {
    await(kind + " " + name + " " + pointer)
        .atMost(LIMIT)
        .untilAsserted(
            () -> assertThat(get(kind, name).at(pointer).asText()).as(pointer).isEqualTo(value));
  }

  /** Awaits that a condition begins so, written as "True Reason". */
  void awaitCondition(String kind, String name, String type, String wanted) {
    await(kind + " " + name + " " + type)
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(find(kind, name).map(object -> condition(object, type)).orElse("gone"))
                    .as(() -> find(kind, name).map(object -> object.at("/status") + "").orElse(""))
                    .isEqualTo(wanted));
  }

  /** Awaits that the message of a condition of a Workload contains this. */
  void awaitMessage(String workload, String type, String part) {
    await(workload + " " + type)
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(get("Workload", workload).at("/status/conditions"))
                    .filteredOn(condition -> condition.path("type").asText().equals(type))
                    .singleElement()
                    .extracting(condition -> condition.path("message").asText())
                    .asString()
                    .contains(part));
  }

  String condition(String kind, String name, String type) {
    return condition(get(kind, name), type);
  }

  private static String condition(JsonNode object, String type) {
    for (JsonNode condition : object.at("/status/conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("status").asText() + " " + condition.path("reason").asText();
      }
    }
    return "absent";
  }

  /** The only Workload of a Job, once there is one. */
  String workloadOf(String job) {
    return await("Workload of Job " + job)
        .atMost(LIMIT)
        .until(() -> findWorkloadOf(job), Optional::isPresent)
        .orElseThrow();
  }

  private Optional<String> findWorkloadOf(String job) {
    return cluster
        .client()
        .genericKubernetesResources(QUEUES, "Workload")
        .inNamespace(cluster.namespace())
        .list()
        .getItems()
        .stream()
        .filter(
            workload ->
                workload.getMetadata().getOwnerReferences().stream()
                    .anyMatch(owner -> owner.getName().equals(job)))
        .map(workload -> workload.getMetadata().getName())
        .findFirst();
  }

  /** Awaits that a Job runs with so many pods, its Workload admitted. */
  String awaitRunning(String job, int pods) {
    awaitField("Job", job, "/spec/suspend", "false");
    awaitField("Job", job, "/status/active", Integer.toString(pods));
    String workload = workloadOf(job);
    assertThat(condition("Workload", workload, "Admitted")).isEqualTo("True Admitted");
    return workload;
  }

  /** Awaits that an event of this reason is told of a Workload. */
  void awaitEvent(String workload, String reason) {
    await("event " + reason)
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(cluster.events())
                    .filteredOn(event -> event.getRegarding().getName().equals(workload))
                    .extracting(Event::getReason)
                    .contains(reason));
  }

  /** A Job in queue {@code lq} whose pods want one CPU each and run for ten minutes. */
  JsonNode submit(String job, int pods) {
    return submit(job, pods, "10m");
  }

  JsonNode submit(String job, int pods, String runFor) {
    return submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          parallelism: %d
          completions: %d
          template:
            metadata: {annotations: {sluice.dev/run-for: "%s"}, labels: {team: research}}
            spec:
              restartPolicy: Never
              nodeSelector: {zone: a}
              tolerations: [{key: own, operator: Exists}]
              containers:
              - {name: main, image: none, resources: {requests: {cpu: "1"}}}
        """
            .formatted(job, pods, pods, runFor));
  }

  /** A Job with these labels, such as the name of a queue, whose pods want one CPU each. */
  static String job(String name, String labels, int pods) {
    return """
    apiVersion: batch/v1
    kind: Job
    metadata: {name: %s, labels: {%s}}
    spec:
      parallelism: %d
      completions: %d
      template:
        metadata: {annotations: {sluice.dev/run-for: "10m"}}
        spec:
          restartPolicy: Never
          containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
    """
        .formatted(name, labels, pods, pods);
  }

  JsonNode submit(String yaml) {
    return tree(cluster.applyText(yaml).getFirst());
  }

  /** A flavor, a ClusterQueue with so many CPUs of it, and the LocalQueue lq before it. */
  void givenQueues(int cpus) {
    cluster.applyText(
        """
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
    awaitField(
        "ClusterQueue", cluster.name("cq"), "/status/flavorsUsage/0/resources/0/total", cpus);
  }
}
