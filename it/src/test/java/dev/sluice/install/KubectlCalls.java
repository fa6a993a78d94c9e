package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The requests that the API's own kubectl plugin makes, verb by verb, and what each of them has to
 * bring about. They are sent as they are, without a client's knowledge of kinds.
 */
final class KubectlCalls {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String ROOT = "apis/kueue.x-k8s.io/v1beta2/";
  private static final String MERGE = "application/merge-patch+json";
  private static final String JSON = "application/json";
  private static final String TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";

  private final TestCluster cluster;
  private final ObjectMapper json = new ObjectMapper();

  /** An answer of the API server. */
  private record Answer(int code, JsonNode body) {
    String text(String path) {
      return body.at(path).asText();
    }
  }

  KubectlCalls(TestCluster cluster) {
    this.cluster = cluster;
  }

  /** Plays all verbs. */
  void replay() {
    create();
    submit();
    listPending();
    stopAndResume();
    tables();
    delete();
    assertThat(
            get("apis/apps/v1/namespaces/kueue-system/deployments/kueue-controller-manager")
                .body()
                .at("/spec/template/spec/containers")
                .findValuesAsText("name"))
        .as("version")
        .contains("manager");
  }

  private void create() {
    String flavor =
        """
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor",
         "metadata": {"name": "called"},
         "spec": {"nodeLabels": {"pool": "spot"},
           "nodeTaints": [{"key": "spot", "value": "true", "effect": "NoSchedule"}],
           "tolerations": [{"key": "spot", "operator": "Equal", "value": "true",
             "effect": "NoSchedule"}]}}
        """;
    String queue =
        """
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
         "metadata": {"name": "called"},
         "spec": {"cohortName": "called", "queueingStrategy": "BestEffortFIFO",
           "namespaceSelector": {},
           "preemption": {"reclaimWithinCohort": "Never", "withinClusterQueue": "Never"},
           "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{"name": "called",
             "resources": [{"name": "cpu", "nominalQuota": "1", "borrowingLimit": "0"}]}]}]}}
        """;
    String localQueue =
        """
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
         "metadata": {"name": "called", "namespace": "%s"}, "spec": {"clusterQueue": "called"}}
        """
            .formatted(cluster.namespace());
    for (String dryRun : List.of("?dryRun=All&fieldManager=kubectl", "?fieldManager=kubectl")) {
      assertThat(send("POST", ROOT + "resourceflavors" + dryRun, JSON, flavor).code())
          .isEqualTo(201);
      assertThat(send("POST", ROOT + "clusterqueues" + dryRun, JSON, queue).code()).isEqualTo(201);
      assertThat(get(ROOT + "clusterqueues/called").code())
          .as("a local queue is made for a queue that exists")
          .isEqualTo(dryRun.contains("dryRun") ? 404 : 200);
      assertThat(send("POST", localQueues() + dryRun, JSON, localQueue).code()).isEqualTo(201);
    }
    assertThat(send("POST", ROOT + "clusterqueues", JSON, queue).text("/reason"))
        .isEqualTo("AlreadyExists");
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        get(ROOT + "clusterqueues?limit=100&fieldSelector=metadata.name%3Dcalled")
                            .body()
                            .at("/items/0/status/conditions/0/status")
                            .asText())
                    .as("list --active")
                    .isEqualTo("True"));
  }

  private void submit() {
    for (String name : List.of("called-a", "called-b", "called-c")) {
      cluster.applyText(
          """
          apiVersion: batch/v1
          kind: Job
          metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: called}}
          spec:
            template:
              metadata: {annotations: {sluice.dev/run-for: 10h}}
              spec:
                restartPolicy: Never
                terminationGracePeriodSeconds: 1
                containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
          """
              .formatted(name));
      if (name.equals("called-a")) {
        awaitAdmitted(List.of("called-a"));
      }
    }
  }

  private void listPending() {
    await()
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(positions()).containsExactlyInAnyOrder(0, 1));
    assertThat(pages(workloads() + "?limit=2"))
        .as("list --status pending, page by page")
        .filteredOn(workload -> workload.at("/spec/queueName").asText().equals("called"))
        .filteredOn(workload -> !isAdmitted(workload))
        .hasSize(2);
    String uid = get(job("called-a")).text("/metadata/uid");
    assertThat(
            get(workloads() + "?limit=100&labelSelector=kueue.x-k8s.io%2Fjob-uid%3D" + uid)
                .body()
                .path("items"))
        .as("list --for")
        .hasSize(1);
    assertThat(
            get("api/v1/namespaces/"
                    + cluster.namespace()
                    + "/pods?labelSelector=batch.kubernetes.io%2Fjob-name%3Dcalled-a")
                .body()
                .path("items"))
        .as("list pods --for")
        .hasSize(1);
  }

  private void stopAndResume() {
    String workload = workloadOf("called-a");
    patch(workload, "{\"spec\": {\"active\": false}}");
    awaitAdmittedOne(List.of("called-b", "called-c"));
    patch(workload, "{\"spec\": {\"active\": true}}");
    await().atMost(LIMIT).untilAsserted(() -> assertThat(positions()).hasSize(2));

    patch(ROOT + "clusterqueues/called", "{\"spec\": {\"stopPolicy\": \"HoldAndDrain\"}}");
    await().atMost(LIMIT).untilAsserted(() -> assertThat(admitted()).isEmpty());
    patch(localQueues() + "/called", "{\"spec\": {\"stopPolicy\": \"Hold\"}}");
    patch(ROOT + "clusterqueues/called", "{\"spec\": {\"stopPolicy\": \"None\"}}");
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(get(localQueues() + "/called").text("/status/conditions/0/reason"))
                    .as("held")
                    .isEqualTo("Stopped"));
    patch(localQueues() + "/called", "{\"spec\": {\"stopPolicy\": \"None\"}}");
    await().atMost(LIMIT).untilAsserted(() -> assertThat(admitted()).hasSize(1));

    patch(localQueues() + "/called", "{\"spec\": {\"stopPolicy\": \"HoldAndDrain\"}}");
    await().atMost(LIMIT).untilAsserted(() -> assertThat(admitted()).isEmpty());
    patch(localQueues() + "/called", "{\"spec\": {\"stopPolicy\": \"None\"}}");
    await().atMost(LIMIT).untilAsserted(() -> assertThat(admitted()).hasSize(1));
  }

  /** What kubectl prints of get and describe comes from here. */
  private void tables() {
    assertThat(columns(workloads())).contains("Queue", "Reserved in", "Admitted", "Finished");
    assertThat(columns(ROOT + "clusterqueues")).contains("Cohort", "Pending Workloads");
    assertThat(columns(localQueues()))
        .contains("ClusterQueue", "Pending Workloads", "Admitted Workloads");
    assertThat(columns(ROOT + "resourceflavors")).contains("Age");
    assertThat(
            get("apis/events.k8s.io/v1/namespaces/"
                    + cluster.namespace()
                    + "/events?limit=500&fieldSelector=regarding.kind%3DWorkload")
                .body()
                .path("items"))
        .as("describe shows events")
        .isNotEmpty();
  }

  private List<String> columns(String path) {
    return send("GET", path, TABLE, "").body().path("columnDefinitions").findValuesAsText("name");
  }

  private void delete() {
    String workload = workloadOf("called-b");
    assertThat(get(workload).text("/metadata/ownerReferences/0/name")).isEqualTo("called-b");
    assertThat(
            send(
                    "DELETE",
                    job("called-b"),
                    JSON,
                    "{\"apiVersion\": \"v1\", \"kind\": \"DeleteOptions\","
                        + " \"propagationPolicy\": \"Background\"}")
                .code())
        .isEqualTo(200);
    await().atMost(LIMIT).until(() -> get(workload).code() == 404);
    send("DELETE", job("called-a"), JSON, background());
    send("DELETE", job("called-c"), JSON, background());
    await().atMost(LIMIT).until(() -> ofQueue().isEmpty());
    send("DELETE", localQueues() + "/called", JSON, background());
    send("DELETE", ROOT + "clusterqueues/called", JSON, background());
    send("DELETE", ROOT + "resourceflavors/called", JSON, background());
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(get(ROOT + "clusterqueues/called").code()).isEqualTo(404);
              assertThat(get(ROOT + "resourceflavors/called").code()).isEqualTo(404);
            });
  }

  private static String background() {
    return "{\"apiVersion\": \"v1\", \"kind\": \"DeleteOptions\", \"propagationPolicy\":"
        + " \"Background\"}";
  }

  private List<Integer> positions() {
    Answer answer =
        get(
            "apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/"
                + cluster.namespace()
                + "/localqueues/called/pendingworkloads");
    List<Integer> positions = new ArrayList<>();
    answer
        .body()
        .path("items")
        .forEach(item -> positions.add(item.path("positionInLocalQueue").asInt()));
    return positions;
  }

  private List<JsonNode> pages(String path) {
    List<JsonNode> items = new ArrayList<>();
    String token = "";
    do {
      Answer answer = get(path + (token.isEmpty() ? "" : "&continue=" + token));
      answer.body().path("items").forEach(items::add);
      token = answer.text("/metadata/continue");
    } while (!token.isEmpty());
    return items;
  }

  private List<JsonNode> ofQueue() {
    List<JsonNode> own = new ArrayList<>();
    get(workloads())
        .body()
        .path("items")
        .forEach(
            workload -> {
              if (workload.at("/spec/queueName").asText().equals("called")) {
                own.add(workload);
              }
            });
    return own;
  }

  private static boolean isAdmitted(JsonNode workload) {
    for (JsonNode condition : workload.at("/status/conditions")) {
      if (condition.path("type").asText().equals("Admitted")) {
        return condition.path("status").asText().equals("True");
      }
    }
    return false;
  }

  private List<String> admitted() {
    return ofQueue().stream()
        .filter(KubectlCalls::isAdmitted)
        .map(workload -> workload.at("/metadata/ownerReferences/0/name").asText())
        .toList();
  }

  private void awaitAdmitted(List<String> jobs) {
    await()
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(admitted()).containsExactlyElementsOf(jobs));
  }

  private void awaitAdmittedOne(List<String> jobs) {
    await().atMost(LIMIT).untilAsserted(() -> assertThat(admitted()).hasSize(1).isSubsetOf(jobs));
  }

  private String workloadOf(String job) {
    return ofQueue().stream()
        .filter(workload -> workload.at("/metadata/ownerReferences/0/name").asText().equals(job))
        .map(workload -> workloads() + "/" + workload.at("/metadata/name").asText())
        .findFirst()
        .orElseThrow();
  }

  private String workloads() {
    return ROOT + "namespaces/" + cluster.namespace() + "/workloads";
  }

  private String localQueues() {
    return ROOT + "namespaces/" + cluster.namespace() + "/localqueues";
  }

  private String job(String name) {
    return "apis/batch/v1/namespaces/" + cluster.namespace() + "/jobs/" + name;
  }

  private void patch(String path, String patch) {
    assertThat(send("PATCH", path, MERGE, patch).code()).isEqualTo(200);
  }

  private Answer get(String path) {
    return send("GET", path, JSON, "");
  }

  /** For GET the type is what is accepted, else that of the body. */
  private Answer send(String method, String path, String type, String body) {
    var http = cluster.client().getHttpClient();
    var request = http.newHttpRequestBuilder().uri(cluster.client().getMasterUrl() + path);
    HttpResponse<String> answer =
        http.sendAsync(
                (method.equals("GET")
                        ? request.header("Accept", type)
                        : request.method(method, type, body))
                    .build(),
                String.class)
            .join();
    try {
      return new Answer(answer.code(), json.readTree(answer.body()));
    } catch (JsonProcessingException e) {
      throw new AssertionError(path + " is answered by " + answer.body(), e);
    }
  }
}
