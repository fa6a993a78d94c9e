package dev.sluice.kinds;

import static dev.sluice.testing.MultiCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.player.KindManifest;
import dev.sluice.testing.MultiCluster;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The life of a LeaderWorkerSet in a worker: what happens to its groups one by one. */
final class RemoteGroups {

  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);
  private static final String INDEX =
      "/metadata/annotations/kueue.x-k8s.io~1component-workload-index";
  private static final String GROUP = "/metadata/labels/leaderworkerset.sigs.k8s.io~1group-index";
  private static final String NAME = "leaderworkerset-sample";

  private final RemoteLife life;
  private final MultiCluster clusters;

  RemoteGroups(RemoteLife life) {
    this.life = life;
    this.clusters = life.clusters();
  }

  /** The sample with so small pods that there is room for any number of groups everywhere. */
  static KindManifest small(KindManifest sample) {
    return sample.changed(
        object ->
            object
                .at("/spec/leaderWorkerTemplate")
                .valueStream()
                .filter(JsonNode::isObject)
                .map(template -> template.at("/spec/containers/0/resources/requests"))
                .forEach(requests -> ((ObjectNode) requests).put("cpu", "100m")));
  }

  private Resource<?> set(KubernetesClient client) {
    return client
        .genericKubernetesResources("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
        .inNamespace(clusters.namespace())
        .withName(NAME);
  }

  private KubernetesClient worker() {
    return clusters.worker(RemoteLife.known(life.cluster()));
  }

  private String uidThere() {
    return life.job(worker(), NAME).orElseThrow().at("/metadata/uid").asText();
  }

  private static Set<String> uids(List<JsonNode> objects) {
    return objects.stream()
        .map(object -> object.at("/metadata/uid").asText())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private List<JsonNode> pods(KubernetesClient client, int group) {
    return life.pods(client).stream()
        .filter(pod -> pod.at(GROUP).asInt() == group)
        .sorted(Comparator.comparing(pod -> pod.at("/metadata/name").asText()))
        .toList();
  }

  private static List<String> phases(List<JsonNode> pods) {
    return pods.stream().map(pod -> pod.at("/status/phase").asText()).toList();
  }

  /** Scales the set in the manager, and awaits that all of its groups run in the same worker. */
  void scale(int replicas) {
    String cluster = life.cluster();
    String there = uidThere();
    set(clusters.manager()).patch(MERGE, "{\"spec\":{\"replicas\":" + replicas + "}}");
    assertThat(life.awaitRunning(replicas)).isEqualTo(cluster);
    life.awaitStatus();
    eventually(
        () -> {
          assertThat(life.workloads(worker())).hasSize(replicas);
          assertThat(life.pods(clusters.manager())).hasSize(2 * replicas);
          assertThat(life.job(worker(), NAME).orElseThrow().at("/spec/replicas").asInt())
              .isEqualTo(replicas);
        });
    assertThat(uidThere()).isEqualTo(there);
  }

  /** Changes the image in the manager, and awaits the rollout in the worker and here. */
  void rollOut(int replicas) {
    Set<String> workloads = uids(life.workloads(clusters.manager()));
    Set<String> before = uids(life.pods(worker()));
    String there = uidThere();
    ObjectNode spec = life.job(clusters.manager(), NAME).orElseThrow().path("spec").deepCopy();
    for (String template : List.of("leaderTemplate", "workerTemplate")) {
      ((ObjectNode) spec.at("/leaderWorkerTemplate/" + template + "/spec/containers/0"))
          .put("image", "busybox:1.38");
    }
    set(clusters.manager()).patch(MERGE, "{\"spec\":" + spec + "}");
    eventually(
        () -> {
          for (KubernetesClient client : List.of(worker(), clusters.manager())) {
            assertThat(life.pods(client))
                .hasSize(2 * replicas)
                .allSatisfy(
                    pod -> {
                      assertThat(pod.at("/spec/containers/0/image").asText())
                          .isEqualTo("busybox:1.38");
                      assertThat(pod.at("/status/phase").asText()).isEqualTo("Running");
                    });
          }
        });
    assertThat(uids(life.pods(worker()))).doesNotContainAnyElementsOf(before);
    life.awaitRunning(replicas);
    life.awaitStatus();
    assertThat(uids(life.workloads(clusters.manager()))).isEqualTo(workloads);
    assertThat(uidThere()).isEqualTo(there);
  }

  /** Switches the lowest of two groups off and on; the other one isn't disturbed. */
  void stopTheFirst() {
    String cluster = life.cluster();
    String there = uidThere();
    Set<String> other = uids(pods(worker(), 1));
    String first =
        life.workloads(clusters.manager()).stream()
            .filter(workload -> workload.at(INDEX).asText().equals("0"))
            .findFirst()
            .orElseThrow()
            .at("/metadata/name")
            .asText();
    KubernetesClient worker = clusters.worker(cluster);
    life.activate(first, false);
    eventually(
        () -> {
          assertThat(phases(pods(clusters.manager(), 0))).containsExactly("Pending", "Pending");
          assertThat(phases(pods(worker, 0))).containsExactly("Pending", "Pending");
          assertThat(life.workloads(worker)).hasSize(1);
          assertThat(phases(pods(clusters.manager(), 1))).containsExactly("Running", "Running");
        });
    life.activate(first, true);
    assertThat(life.awaitRunning(2)).isEqualTo(cluster);
    life.awaitStatus();
    assertThat(uids(pods(worker, 1))).isEqualTo(other);
    assertThat(uidThere()).isEqualTo(there);
  }

  /** Deletes the set in the worker; it is sent again. */
  void deleteThere() {
    String before = uidThere();
    set(worker()).delete();
    eventually(
        () -> {
          assertThat(life.cluster()).isNotEmpty();
          assertThat(uidThere()).isNotEqualTo(before);
        });
    life.awaitRunning(2);
    life.awaitStatus();
  }
}
