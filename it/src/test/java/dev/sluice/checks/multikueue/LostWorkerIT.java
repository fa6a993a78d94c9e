package dev.sluice.checks.multikueue;

import static dev.sluice.testing.MultiCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.AdditionalControlPlane;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ManagerAndWorkers;
import dev.sluice.testing.MultiCluster;
import dev.sluice.testing.Workload;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * What runs in a worker whose API server is away for longer than the timeout runs elsewhere, and
 * only there once the worker is back.
 */
@Execution(ExecutionMode.SAME_THREAD)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ResourceLock(AdditionalControlPlane.PLACE_B)
@Tag("scenario")
@Tag(BuildBreadth.NIGHTLY)
class LostWorkerIT {

  private static final Duration LOST = Duration.ofSeconds(10);
  private static final String KINDS = "integrations: {frameworks: [batch/job, pod, statefulset]}\n";

  @SuppressWarnings("NullAway.Init") // made before all tests
  private ManagerAndWorkers running;

  @SuppressWarnings("NullAway.Init") // made before each test
  private MultiCluster clusters;

  @BeforeAll
  void start() {
    running =
        ManagerAndWorkers.start(
            new ManagerAndWorkers.Options(
                KINDS
                    + "multiKueue: {workerLostTimeout: %ds, gcInterval: 2s}\n"
                        .formatted(LOST.toSeconds()),
                KINDS,
                true));
  }

  @AfterAll
  void stop() {
    running.close();
  }

  @BeforeEach
  void setUp() {
    clusters = running.share().setUp();
  }

  @AfterEach
  void cleanUp() {
    clusters.close();
  }

  private void runJob(String name) {
    clusters.apply(
        clusters.manager(),
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          namespace: ${namespace}
          labels: {kueue.x-k8s.io/queue-name: analysis}
        spec:
          parallelism: 2
          completions: 2
          template:
            metadata: {annotations: {sluice.dev/run-for: 10m}}
            spec:
              restartPolicy: Never
              terminationGracePeriodSeconds: 1
              containers:
              - {name: c, image: i, resources: {requests: {cpu: 1}}}
        """
            .formatted(name));
    eventually(() -> assertThat(clusters.job(name).getStatus().getActive()).isEqualTo(2));
  }

  /** The worker knows nothing of it, and runs the Job until the fence stops it. */
  @Test
  void whatIsSentBackHereWhileItsWorkerIsLostIsNotStartedElsewhereBeforeTheTimeOut() {
    runJob("unheard");
    String first = clusters.cluster("unheard");
    String other = MultiCluster.other(first);

    Instant cut = Instant.now();
    running.cutOff(first);
    clusters.activate("unheard", false);
    eventually(() -> assertThat(clusters.cluster("unheard")).isEmpty());
    clusters.activate("unheard", true);

    eventually(() -> assertThat(clusters.podsOf(clusters.worker(other), "unheard")).isEqualTo(2));
    Job there =
        clusters
            .worker(other)
            .batch()
            .v1()
            .jobs()
            .inNamespace(clusters.namespace())
            .withName("unheard")
            .get();
    assertThat(Instant.parse(there.getMetadata().getCreationTimestamp()))
        .isAfter(cut.plus(LOST).minusSeconds(1));
    running.reconnect(first);
    eventually(() -> assertThat(clusters.podsOf(clusters.worker(first), "unheard")).isZero());
    clusters.endPods(clusters.worker(other), "job-name", "unheard");
    clusters.awaitComplete("unheard", 2);
    clusters.awaitNothingLeft("unheard");
  }

  @Test
  void aJobOfALostWorkerRunsElsewhereAndOnlyThereOnceTheWorkerIsBack() {
    runJob("survivor");
    String first = clusters.cluster("survivor");
    String other = MultiCluster.other(first);

    running.cutOff(first);

    eventually(
        () -> {
          assertThat(clusters.cluster("survivor")).isEqualTo(other);
          assertThat(clusters.podsOf(clusters.worker(other), "survivor")).isEqualTo(2);
        });
    running.reconnect(first);
    eventually(
        () -> {
          KubernetesClient back = clusters.worker(first);
          assertThat(
                  back.batch()
                      .v1()
                      .jobs()
                      .inNamespace(clusters.namespace())
                      .withName("survivor")
                      .get())
              .isNull();
          assertThat(clusters.podsOf(back, "survivor")).isZero();
        });
    assertThat(clusters.cluster("survivor")).isEqualTo(other);
    eventually(() -> assertThat(clusters.job("survivor").getStatus().getActive()).isEqualTo(2));
    clusters.endPods(clusters.worker(other), "job-name", "survivor");
    clusters.awaitComplete("survivor", 2);
    clusters.awaitNothingLeft("survivor");
  }

  private @Nullable Pod pod(KubernetesClient client) {
    return client.pods().inNamespace(clusters.namespace()).withName("lonely").get();
  }

  private void awaitPhase(KubernetesClient client, String phase) {
    eventually(
        () ->
            assertThat(pod(client))
                .isNotNull()
                .satisfies(pod -> assertThat(pod.getStatus().getPhase()).isEqualTo(phase)));
  }

  private void runPod() {
    clusters.apply(
        clusters.manager(),
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: lonely
          namespace: ${namespace}
          labels: {kueue.x-k8s.io/queue-name: analysis, team: a}
          annotations: {sluice.dev/run-for: 10m}
        spec:
          restartPolicy: Never
          terminationGracePeriodSeconds: 1
          containers:
          - {name: c, image: i, resources: {requests: {cpu: 100m}}}
        """);
    awaitPhase(clusters.manager(), "Running");
  }

  @Test
  void aPodOfALostWorkerRunsElsewhere() {
    runPod();
    String first = clusters.cluster("lonely");
    String other = MultiCluster.other(first);

    running.cutOff(first);

    eventually(() -> assertThat(clusters.cluster("lonely")).isEqualTo(other));
    awaitPhase(clusters.worker(other), "Running");
    awaitPhase(clusters.manager(), "Running");
    running.reconnect(first);
    eventually(() -> assertThat(pod(clusters.worker(first))).isNull());
    endPod(other);
  }

  /** It was connected until its kubeconfig was deleted. */
  @Test
  void aPodOfAWorkerThatIsNoneAnyMoreRunsElsewhere() {
    runPod();
    String first = clusters.cluster("lonely");
    String other = MultiCluster.other(first);

    running.dismiss(first);

    eventually(() -> assertThat(clusters.cluster("lonely")).isEqualTo(other));
    awaitPhase(clusters.worker(other), "Running");
    awaitPhase(clusters.manager(), "Running");
    running.employ(first);
    eventually(() -> assertThat(pod(clusters.worker(first))).isNull());
    endPod(other);
  }

  private void endPod(String cluster) {
    clusters.endPods(clusters.worker(cluster), "team", "a");
    awaitPhase(clusters.manager(), "Succeeded");
    for (String worker : ManagerAndWorkers.WORKERS) {
      eventually(
          () -> {
            assertThat(pod(clusters.worker(worker))).isNull();
            assertNoWorkload(worker);
          });
    }
  }

  private void assertNoWorkload(String worker) {
    assertThat(
            clusters
                .worker(worker)
                .resources(Workload.class)
                .inNamespace(clusters.namespace())
                .list()
                .getItems())
        .isEmpty();
  }

  private @Nullable StatefulSet set(KubernetesClient client) {
    return client.apps().statefulSets().inNamespace(clusters.namespace()).withName("web").get();
  }

  private int ready(KubernetesClient client) {
    return Optional.ofNullable(set(client))
        .flatMap(set -> Optional.ofNullable(set.getStatus()))
        .flatMap(status -> Optional.ofNullable(status.getReadyReplicas()))
        .orElse(0);
  }

  /** The cluster that the StatefulSet runs in. */
  private String place() {
    return clusters
        .manager()
        .resources(Workload.class)
        .inNamespace(clusters.namespace())
        .list()
        .getItems()
        .stream()
        .filter(it -> it.getMetadata().getName().startsWith("statefulset-web"))
        .findFirst()
        .flatMap(it -> Optional.ofNullable(it.getStatus()))
        .flatMap(status -> Optional.ofNullable(status.clusterName()))
        .orElse("");
  }

  @Test
  void aStatefulSetOfALostWorkerMovesAndWhatWasThereIsWithdrawn() {
    clusters.apply(
        clusters.manager(),
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
              terminationGracePeriodSeconds: 1
              containers:
              - {name: c, image: i, resources: {requests: {cpu: 100m}}}
        """);
    eventually(() -> assertThat(ready(clusters.manager())).isEqualTo(2));
    String first = place();
    String other = MultiCluster.other(first);

    running.cutOff(first);

    eventually(
        () -> {
          assertThat(place()).isEqualTo(other);
          assertThat(ready(clusters.worker(other))).isEqualTo(2);
        });
    eventually(() -> assertThat(ready(clusters.manager())).isEqualTo(2));
    running.reconnect(first);
    eventually(
        () -> {
          KubernetesClient back = clusters.worker(first);
          assertThat(set(back)).isNull();
          assertThat(
                  back.pods()
                      .inNamespace(clusters.namespace())
                      .withLabel("app", "web")
                      .list()
                      .getItems())
              .isEmpty();
          assertNoWorkload(first);
        });
    assertThat(ready(clusters.manager())).isEqualTo(2);
    clusters.manager().resource(Objects.requireNonNull(set(clusters.manager()))).delete();
    eventually(() -> assertNoWorkload(other));
  }
}
