package dev.sluice.checks.multikueue;

import static dev.sluice.testing.MultiCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.MultiCluster;
import dev.sluice.testing.MultiClusterTest;
import dev.sluice.testing.Workload;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A StatefulSet of a manager that runs in its workers: its status here is the truth. */
@MultiClusterTest
@Tag("scenario")
@Tag(BuildBreadth.NIGHTLY)
class StatefulSetMultiKueueIT {

  @SuppressWarnings("NullAway.Init") // made before each test
  private MultiCluster clusters;

  @BeforeEach
  void setUp(MultiCluster share) {
    clusters = share.setUp();
  }

  private KubernetesClient manager() {
    return clusters.manager();
  }

  private @Nullable StatefulSet find(KubernetesClient client) {
    return client.apps().statefulSets().inNamespace(clusters.namespace()).withName("web").get();
  }

  private StatefulSet here() {
    return Objects.requireNonNull(find(manager()));
  }

  private static int ready(@Nullable StatefulSet set) {
    return set == null || set.getStatus() == null
        ? 0
        : Optional.ofNullable(set.getStatus().getReadyReplicas()).orElse(0);
  }

  private Workload workload() {
    return manager()
        .resources(Workload.class)
        .inNamespace(clusters.namespace())
        .list()
        .getItems()
        .stream()
        .filter(it -> it.getMetadata().getName().startsWith("statefulset-web"))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no Workload"));
  }

  private String cluster() {
    return Optional.ofNullable(workload().getStatus())
        .flatMap(status -> Optional.ofNullable(status.clusterName()))
        .orElse("");
  }

  private List<Pod> pods(KubernetesClient client) {
    return client
        .pods()
        .inNamespace(clusters.namespace())
        .withLabel("app", "web")
        .list()
        .getItems();
  }

  private void awaitNothingLeft(String cluster) {
    KubernetesClient worker = clusters.worker(cluster);
    eventually(
        () -> {
          assertThat(find(worker)).isNull();
          assertThat(pods(worker)).isEmpty();
          assertThat(
                  worker
                      .resources(Workload.class)
                      .inNamespace(clusters.namespace())
                      .list()
                      .getItems())
              .isEmpty();
        });
  }

  @Test
  void itsStatusIsThatOfTheWorkerThroughItsWholeLife() throws Exception {
    clusters.apply(
        manager(),
        """
        apiVersion: apps/v1
        kind: StatefulSet
        metadata:
          name: web
          namespace: ${namespace}
          labels: {kueue.x-k8s.io/queue-name: analysis}
        spec:
          replicas: 2
          serviceName: web
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web}}
            spec:
              containers:
              - {name: c, image: i, resources: {requests: {cpu: 100m}}}
        """);

    // it runs in one worker, and is ready here as it is there
    eventually(() -> assertThat(ready(here())).isEqualTo(2));
    String first = cluster();
    String other = MultiCluster.other(first);
    assertThat(ready(find(clusters.worker(first)))).isEqualTo(2);
    assertThat(Objects.requireNonNull(find(clusters.worker(first))).getMetadata().getAnnotations())
        .containsEntry("kueue.x-k8s.io/multikueue-origin-uid", here().getMetadata().getUid());
    awaitNothingLeft(other);
    assertThat(pods(manager()))
        .hasSize(2)
        .allSatisfy(
            pod -> {
              assertThat(pod.getSpec().getNodeName()).isNull();
              assertThat(pod.getSpec().getSchedulingGates()).isNotEmpty();
              assertThat(pod.getStatus().getPhase()).isEqualTo("Running");
            });

    // a pod that isn't ready there is seen here, and so is another one in its place
    Set<Integer> seen = ConcurrentHashMap.newKeySet();
    try (var watched =
        manager()
            .apps()
            .statefulSets()
            .inNamespace(clusters.namespace())
            .withName("web")
            .inform(new Readiness(seen))) {
      assertThat(watched.isRunning()).isTrue();
      PodResource pod =
          clusters.worker(first).pods().inNamespace(clusters.namespace()).withName("web-1");
      pod.subresource("status")
          .patch(
              PatchContext.of(PatchType.JSON_MERGE),
              "{\"status\": {\"conditions\": [{\"type\": \"Ready\", \"status\": \"False\"}]}}");
      eventually(() -> assertThat(seen).contains(1));
      pod.delete();
      eventually(() -> assertThat(ready(here())).isEqualTo(2));
    }

    // nothing is left anywhere when it has nothing to run, and it can come again
    manager().apps().statefulSets().inNamespace(clusters.namespace()).withName("web").scale(0);
    eventually(
        () -> {
          assertThat(pods(manager())).isEmpty();
          assertThat(workload().getStatus().admission()).isNull();
        });
    awaitNothingLeft(first);
    manager().apps().statefulSets().inNamespace(clusters.namespace()).withName("web").scale(2);
    eventually(() -> assertThat(ready(here())).isEqualTo(2));

    String last = cluster();
    manager().resource(here()).delete();
    awaitNothingLeft(last);
  }

  /** Notes how many replicas were ever ready. */
  private record Readiness(Set<Integer> seen) implements ResourceEventHandler<StatefulSet> {

    @Override
    public void onAdd(StatefulSet set) {
      seen.add(ready(set));
    }

    @Override
    public void onUpdate(StatefulSet before, StatefulSet after) {
      seen.add(ready(after));
    }

    @Override
    public void onDelete(StatefulSet set, boolean unknown) {
      seen.add(0);
    }
  }
}
