package dev.sluice.checks.multikueue;

import static dev.sluice.testing.MultiCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ManagerAndWorkers;
import dev.sluice.testing.MultiCluster;
import dev.sluice.testing.MultiClusterTest;
import dev.sluice.testing.Workload;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Pods and groups of pods of a manager that run in its workers. */
@MultiClusterTest
@Tag("scenario")
@Tag(BuildBreadth.NIGHTLY)
class PodMultiKueueIT {

  @SuppressWarnings("NullAway.Init") // made before each test
  private MultiCluster clusters;

  @BeforeEach
  void setUp(MultiCluster share) {
    clusters = share.setUp();
  }

  private KubernetesClient manager() {
    return clusters.manager();
  }

  private void submit(String name, String annotations) {
    clusters.apply(
        manager(),
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: %s
          namespace: ${namespace}
          labels: {kueue.x-k8s.io/queue-name: analysis, team: a}
          annotations: {%s}
        spec:
          restartPolicy: Never
          containers:
          - {name: c, image: i, resources: {requests: {cpu: 100m}}}
        """
            .formatted(name, annotations));
  }

  /** A pod of a group of two. */
  private void submitMember(String name, String group, String annotations) {
    clusters.apply(
        manager(),
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: %s
          namespace: ${namespace}
          labels: {kueue.x-k8s.io/queue-name: analysis, kueue.x-k8s.io/pod-group-name: %s}
          annotations: {kueue.x-k8s.io/pod-group-total-count: "2", %s}
        spec:
          restartPolicy: Never
          containers:
          - {name: c, image: i, resources: {requests: {cpu: 100m}}}
        """
            .formatted(name, group, annotations));
  }

  private @Nullable Pod pod(KubernetesClient client, String name) {
    return client.pods().inNamespace(clusters.namespace()).withName(name).get();
  }

  private Pod here(String name) {
    return Objects.requireNonNull(pod(manager(), name), name);
  }

  private Pod there(String cluster, String name) {
    return Objects.requireNonNull(pod(clusters.worker(cluster), name), name);
  }

  private String phase(String name) {
    return here(name).getStatus().getPhase();
  }

  private void awaitPhase(String name, String phase) {
    eventually(() -> assertThat(phase(name)).isEqualTo(phase));
  }

  private void awaitNothingLeft(String pod, String workload) {
    eventually(
        () -> {
          for (String cluster : ManagerAndWorkers.WORKERS) {
            assertThat(pod(clusters.worker(cluster), pod)).isNull();
            assertThat(
                    clusters
                        .worker(cluster)
                        .resources(Workload.class)
                        .inNamespace(clusters.namespace())
                        .withName(workload)
                        .get())
                .isNull();
          }
        });
  }

  @Test
  void aPodRunsInAWorkerAndItsStateIsSeenHereUntilItsEnd() {
    submit("single", "sluice.dev/run-for: 60m");

    awaitPhase("single", "Running");
    String workload = clusters.workload("single").getMetadata().getName();
    Pod there = there(clusters.cluster("single"), "single");
    assertThat(there.getSpec().getNodeName()).isNotEmpty();
    assertThat(there.getMetadata().getLabels())
        .containsEntry("kueue.x-k8s.io/multikueue-origin", "multikueue")
        .containsEntry("team", "a");
    assertThat(there.getMetadata().getAnnotations())
        .containsEntry("kueue.x-k8s.io/prebuilt-workload-name", workload);
    assertThat(here("single").getStatus().getContainerStatuses().getFirst().getReady()).isTrue();
    assertThat(here("single").getStatus().getPodIP()).isEqualTo(there.getStatus().getPodIP());
    assertThat(here("single").getSpec().getNodeName()).isNull();
    assertThat(here("single").getSpec().getSchedulingGates()).isNotEmpty();

    clusters.endPods(clusters.worker(clusters.cluster("single")), "team", "a");
    awaitPhase("single", "Succeeded");
    eventually(
        () -> {
          assertThat(clusters.workload("single").getStatus().conditions())
              .anySatisfy(
                  condition -> {
                    assertThat(condition.getType()).isEqualTo("Finished");
                    assertThat(condition.getReason()).isEqualTo("Succeeded");
                  });
          assertThat(here("single").getMetadata().getFinalizers()).isEmpty();
        });
    awaitNothingLeft("single", workload);
  }

  @Test
  void aPodThatIsDeletedHereIsDeletedThere() {
    submit("brief", "sluice.dev/run-for: 10m");
    awaitPhase("brief", "Running");
    String workload = clusters.workload("brief").getMetadata().getName();

    manager().resource(here("brief")).delete();

    eventually(() -> assertThat(pod(manager(), "brief")).isNull());
    awaitNothingLeft("brief", workload);
  }

  @Test
  void aPodThatIsSentBackWaitsHereAgainAndRunsWhenItMay() {
    submit("paused", "sluice.dev/run-for: 10m");
    awaitPhase("paused", "Running");
    String workload = clusters.workload("paused").getMetadata().getName();
    String uid = here("paused").getMetadata().getUid();

    clusters.activate("paused", false);

    eventually(
        () -> {
          assertThat(phase("paused")).isEqualTo("Pending");
          assertThat(clusters.workload("paused").getStatus().admission()).isNull();
          assertThat(here("paused").getStatus().getContainerStatuses()).isEmpty();
        });
    awaitNothingLeft("paused", workload);

    clusters.activate("paused", true);
    awaitPhase("paused", "Running");
    clusters.endPods(clusters.worker(clusters.cluster("paused")), "team", "a");
    awaitPhase("paused", "Succeeded");
    assertThat(here("paused").getMetadata().getUid()).isEqualTo(uid);
    awaitNothingLeft("paused", workload);
  }

  @Test
  void aGroupRunsInOneWorkerAndWhatReplacesAFailedPodFollows() {
    submitMember("good", "duo", "sluice.dev/run-for: 3s");
    submitMember("bad", "duo", "sluice.dev/run-for: 3s, sluice.dev/exit-code: '3'");

    awaitPhase("good", "Succeeded");
    awaitPhase("bad", "Failed");
    String cluster = clusters.cluster("good");
    assertThat(there(cluster, "bad").getStatus().getPhase()).isEqualTo("Failed");
    String other = MultiCluster.other(cluster);
    assertThat(pod(clusters.worker(other), "good")).isNull();
    assertThat(pod(clusters.worker(other), "bad")).isNull();
    assertThat(
            here("bad")
                .getStatus()
                .getContainerStatuses()
                .getFirst()
                .getState()
                .getTerminated()
                .getExitCode())
        .isEqualTo(3);

    submitMember("better", "duo", "sluice.dev/run-for: 3s");

    awaitPhase("better", "Succeeded");
    eventually(
        () ->
            assertThat(clusters.workload("good").getStatus().conditions())
                .anySatisfy(
                    condition -> {
                      assertThat(condition.getType()).isEqualTo("Finished");
                      assertThat(condition.getMessage()).isEqualTo("Pods succeeded: 2/2.");
                    }));
    for (String name : List.of("good", "bad", "better")) {
      awaitNothingLeft(name, "duo");
    }
  }

  @Test
  void aGroupThatIsDeletedHereIsDeletedThere() {
    submitMember("left", "pair", "sluice.dev/run-for: 10m");
    submitMember("right", "pair", "sluice.dev/run-for: 10m");
    awaitPhase("left", "Running");
    awaitPhase("right", "Running");

    manager().resource(here("left")).delete();
    manager().resource(here("right")).delete();

    eventually(
        () -> {
          assertThat(pod(manager(), "left")).isNull();
          assertThat(pod(manager(), "right")).isNull();
        });
    awaitNothingLeft("left", "pair");
    awaitNothingLeft("right", "pair");
  }
}
