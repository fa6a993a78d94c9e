package dev.sluice.kinds;

import static dev.sluice.testing.MultiCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.player.KindManifest;
import dev.sluice.testing.ManagerAndWorkers;
import dev.sluice.testing.MultiCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.net.HttpURLConnection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The life of one job, of whatever kind, in a manager and two workers. */
final class RemoteLife {

  private static final String WORKLOADS = "kueue.x-k8s.io/v1beta2";
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final MultiCluster clusters;
  private final KindRow row;
  private KindManifest submitted;

  RemoteLife(MultiCluster clusters, KindRow row) {
    this.clusters = clusters.setUp();
    this.row = row;
    this.submitted = row.manifest();
  }

  void submit(KindManifest manifest) {
    submitted =
        manifest
            .inQueue(MultiCluster.LOCAL_QUEUE)
            .changed(
                object ->
                    object.withObjectProperty("metadata").put("namespace", clusters.namespace()));
    for (ObjectNode object : submitted.objects()) {
      clusters.apply(clusters.manager(), object.toString());
      if (!submitted.jobs().contains(object)) {
        ManagerAndWorkers.WORKERS.forEach(
            worker -> clusters.apply(clusters.worker(worker), object.toString()));
      }
    }
  }

  /** The clusters that the job lives in. */
  MultiCluster clusters() {
    return clusters;
  }

  private List<JsonNode> all(KubernetesClient client, String version, String kind) {
    return client
        .genericKubernetesResources(version, kind)
        .inNamespace(clusters.namespace())
        .list()
        .getItems()
        .stream()
        .map(object -> JSON.<JsonNode>valueToTree(object))
        .toList();
  }

  List<JsonNode> workloads(KubernetesClient client) {
    return all(client, WORKLOADS, "Workload");
  }

  List<JsonNode> pods(KubernetesClient client) {
    return all(client, "v1", "Pod").stream()
        .filter(pod -> !pod.path("metadata").has("deletionTimestamp"))
        .filter(pod -> !List.of("Succeeded", "Failed").contains(pod.at("/status/phase").asText()))
        .toList();
  }

  private List<JsonNode> podsThatMayRun(KubernetesClient client) {
    return pods(client).stream().filter(pod -> pod.at("/spec/schedulingGates").isEmpty()).toList();
  }

  Optional<JsonNode> job(KubernetesClient client, String name) {
    int slash = row.type().lastIndexOf('/');
    GenericKubernetesResource found =
        client
            .genericKubernetesResources(
                row.type().substring(0, slash), row.type().substring(slash + 1))
            .inNamespace(clusters.namespace())
            .withName(name)
            .get();
    return Optional.ofNullable(found).map(object -> JSON.<JsonNode>valueToTree(object));
  }

  private List<String> names() {
    return submitted.jobs().stream().map(job -> job.at("/metadata/name").asText()).toList();
  }

  /** The worker that the Workloads name; empty while they don't agree. */
  String cluster() {
    List<String> named =
        workloads(clusters.manager()).stream()
            .map(workload -> workload.at("/status/clusterName").asText())
            .distinct()
            .toList();
    return named.size() == 1 ? named.getFirst() : "";
  }

  /** The name, which must be known: the Workloads name no worker while they move. */
  static String known(String cluster) {
    assertThat(cluster).isNotEmpty();
    return cluster;
  }

  /** Awaits that all pods run in one worker, and none elsewhere; returns its name. */
  String awaitRunning() {
    return awaitRunning(row.workloads());
  }

  /** The same of a job that has this many Workloads. */
  String awaitRunning(int workloads) {
    eventually(
        () -> {
          assertRunning(workloads);
          assertThat(pods(clusters.worker(MultiCluster.other(known(cluster()))))).isEmpty();
        });
    return cluster();
  }

  private void assertRunning(int workloads) {
    String name = known(cluster());
    List<JsonNode> here = workloads(clusters.manager());
    assertThat(here).hasSize(workloads);
    int wanted =
        here.stream()
            .flatMap(workload -> workload.at("/spec/podSets").valueStream())
            .mapToInt(set -> set.path("count").asInt())
            .sum();
    KubernetesClient worker = clusters.worker(name);
    assertThat(podsThatMayRun(worker))
        .hasSize(wanted)
        .allSatisfy(pod -> assertThat(pod.at("/status/phase").asText()).isEqualTo("Running"));
    assertThat(podsThatMayRun(clusters.manager())).isEmpty();
  }

  /** Awaits that all pods run in this worker; the other one may not be there at all. */
  void awaitAllIn(String worker) {
    eventually(
        () -> {
          assertThat(cluster()).isEqualTo(worker);
          assertRunning(row.workloads());
        });
  }

  /** The UIDs of the pods that run in a worker. */
  Set<String> podsIn(String worker) {
    return pods(clusters.worker(worker)).stream()
        .map(pod -> pod.at("/metadata/uid").asText())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Has a worker admit nothing, or all again. */
  void hold(String worker, boolean held) {
    clusters
        .worker(worker)
        .genericKubernetesResources(WORKLOADS, "ClusterQueue")
        .withName(clusters.name(MultiCluster.CLUSTER_QUEUE))
        .patch(MERGE, "{\"spec\":{\"stopPolicy\":\"" + (held ? "Hold" : "None") + "\"}}");
  }

  /** Awaits that all pods run in this worker. */
  void awaitRunningIn(String worker) {
    eventually(() -> assertThat(cluster()).isEqualTo(worker));
    assertThat(awaitRunning()).isEqualTo(worker);
  }

  /** Awaits that the manager's objects have the status of those in the worker. */
  void awaitStatus() {
    eventually(
        () -> {
          for (String name : names()) {
            JsonNode here = job(clusters.manager(), name).orElseThrow();
            JsonNode there = job(clusters.worker(known(cluster())), name).orElseThrow();
            if (row.suspends()) {
              assertThat(here.path("status")).isEqualTo(there.path("status"));
            } else if (row.isPods()) {
              assertThat(here.at("/status/phase")).isEqualTo(there.at("/status/phase"));
            } else {
              assertThat(here.at("/status/readyReplicas"))
                  .isEqualTo(there.at("/status/readyReplicas"));
            }
          }
        });
  }

  /** Switches all Workloads of the manager on or off. */
  void activate(boolean active) {
    for (JsonNode workload : workloads(clusters.manager())) {
      activate(workload.at("/metadata/name").asText(), active);
    }
  }

  /** Switches one Workload of the manager on or off. */
  void activate(String workload, boolean active) {
    clusters
        .manager()
        .genericKubernetesResources(WORKLOADS, "Workload")
        .inNamespace(clusters.namespace())
        .withName(workload)
        .patch(MERGE, "{\"spec\":{\"active\":" + active + "}}");
  }

  /** Awaits that the manager's Workloads hold no quota, and its object is suspended. */
  void awaitStopped() {
    eventually(
        () -> {
          assertThat(workloads(clusters.manager()))
              .isNotEmpty()
              .allSatisfy(
                  workload -> assertThat(workload.at("/status/admission").isEmpty()).isTrue());
          if (row.suspends()) {
            assertThat(
                    job(clusters.manager(), names().getFirst())
                        .orElseThrow()
                        .at(row.suspendPointer())
                        .asBoolean())
                .isTrue();
          }
          assertThat(podsThatMayRun(clusters.manager())).isEmpty();
        });
    awaitNothingLeftInWorkers();
  }

  void awaitNothingLeftInWorkers() {
    ManagerAndWorkers.WORKERS.forEach(this::awaitNothingLeftIn);
  }

  void awaitNothingLeftIn(String name) {
    KubernetesClient worker = clusters.worker(name);
    eventually(
        () -> {
          assertThat(workloads(worker))
              .filteredOn(workload -> !workload.at("/metadata/name").asText().equals("urgent"))
              .isEmpty();
          assertThat(pods(worker)).isEmpty();
          for (String job : names()) {
            assertThat(job(worker, job)).isEmpty();
          }
        });
  }

  /** Has the worker preempt what runs there, for a Workload that takes the whole worker. */
  void preempt(String name) {
    KubernetesClient worker = clusters.worker(name);
    worker
        .genericKubernetesResources(WORKLOADS, "ClusterQueue")
        .withName(clusters.name(MultiCluster.CLUSTER_QUEUE))
        .patch(MERGE, "{\"spec\": {\"preemption\": {\"withinClusterQueue\": \"LowerPriority\"}}}");
    clusters.apply(
        worker,
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: urgent, namespace: "${namespace}"}
        spec:
          queueName: analysis
          priority: 100
          podSets:
          - name: main
            count: 1
            template:
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none, resources: {requests: {cpu: "%s"}}}]
        """
            .formatted(name.equals(ManagerAndWorkers.ONSITE) ? "4" : "64"));
  }

  /** Has all pods that end by themselves end with success now. */
  void endPods() {
    KubernetesClient worker = clusters.worker(known(cluster()));
    for (JsonNode pod : pods(worker)) {
      if (pod.at("/metadata/annotations").has("sluice.dev/run-for")) {
        end(worker, pod.at("/metadata/name").asText());
      }
    }
  }

  private void end(KubernetesClient worker, String pod) {
    try {
      worker
          .pods()
          .inNamespace(clusters.namespace())
          .withName(pod)
          .subresource("status")
          .patch(MERGE, "{\"status\":{\"phase\":\"Succeeded\"}}");
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND) {
        throw e;
      }
    }
  }

  /** Awaits that the manager's Workload is finished for this reason. */
  void awaitEnd(String reason) {
    eventually(
        () ->
            assertThat(workloads(clusters.manager()))
                .hasSize(1)
                .allSatisfy(
                    workload ->
                        assertThat(KindLife.condition(workload, "Finished", "reason"))
                            .isEqualTo(reason)));
    awaitNothingLeftInWorkers();
  }

  /** Deletes the job in the manager and awaits that nothing of it is left anywhere. */
  void delete() {
    int slash = row.type().lastIndexOf('/');
    for (String name : names()) {
      clusters
          .manager()
          .genericKubernetesResources(
              row.type().substring(0, slash), row.type().substring(slash + 1))
          .inNamespace(clusters.namespace())
          .withName(name)
          .delete();
    }
    awaitNothingLeftInWorkers();
    eventually(
        () -> {
          assertThat(workloads(clusters.manager())).isEmpty();
          assertThat(pods(clusters.manager())).isEmpty();
        });
  }
}
