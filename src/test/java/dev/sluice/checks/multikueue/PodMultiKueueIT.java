package dev.sluice.checks.multikueue;

import static dev.sluice.checks.multikueue.MultiClusterFixture.apply;
import static dev.sluice.checks.multikueue.MultiClusterFixture.eventually;
import static dev.sluice.checks.multikueue.TwoWorkersFixture.NAMESPACE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import dev.sluice.testing.Workload;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.Isolated;

/** Pods and groups of pods of a manager that run in its workers. */
@ControlPlaneTest(exclusive = true)
@Execution(ExecutionMode.SAME_THREAD)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Isolated("needs the processors for itself")
class PodMultiKueueIT {

  private static final List<String> WORKERS = List.of("onsite", "remote");
  private static final String PODS = "integrations: {frameworks: [batch/job, pod]}\n";

  @SuppressWarnings("NullAway.Init") // made before all tests
  private TwoWorkersFixture twoWorkersFixture;

  @BeforeAll
  void start(ControlPlane controlPlane, TestCluster cluster) {
    twoWorkersFixture =
        TwoWorkersFixture.start(
            controlPlane,
            cluster,
            PODS + "multiKueue: {workerLostTimeout: 10s, gcInterval: 5s}\n",
            WORKERS,
            PODS);
    twoWorkersFixture.connect();
  }

  @AfterAll
  void stop() throws Exception {
    twoWorkersFixture.close();
  }

  private KubernetesClient manager() {
    return twoWorkersFixture.manager();
  }

  private void submit(String name, String annotations) {
    apply(
        manager(),
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: %s
          namespace: physics
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
    apply(
        manager(),
        """
        apiVersion: v1
        kind: Pod
        metadata:
          name: %s
          namespace: physics
          labels: {kueue.x-k8s.io/queue-name: analysis, kueue.x-k8s.io/pod-group-name: %s}
          annotations: {kueue.x-k8s.io/pod-group-total-count: "2", %s}
        spec:
          restartPolicy: Never
          containers:
          - {name: c, image: i, resources: {requests: {cpu: 100m}}}
        """
            .formatted(name, group, annotations));
  }

  private static @Nullable Pod pod(KubernetesClient client, String name) {
    return client.pods().inNamespace(NAMESPACE).withName(name).get();
  }

  private Pod here(String name) {
    return Objects.requireNonNull(pod(manager(), name), name);
  }

  private Pod there(String cluster, String name) {
    return Objects.requireNonNull(pod(twoWorkersFixture.worker(cluster), name), name);
  }

  /** The Workload of a pod, or of the group that it is in. */
  private Workload workload(String pod) {
    return manager().resources(Workload.class).inNamespace(NAMESPACE).list().getItems().stream()
        .filter(
            it ->
                it.getMetadata().getOwnerReferences().stream()
                    .map(OwnerReference::getName)
                    .anyMatch(pod::equals))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no Workload of pod " + pod));
  }

  private String cluster(String pod) {
    return Optional.ofNullable(workload(pod).getStatus())
        .flatMap(status -> Optional.ofNullable(status.clusterName()))
        .orElse("");
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
          for (String cluster : WORKERS) {
            assertThat(pod(twoWorkersFixture.worker(cluster), pod)).isNull();
            assertThat(
                    twoWorkersFixture
                        .worker(cluster)
                        .resources(Workload.class)
                        .inNamespace(NAMESPACE)
                        .withName(workload)
                        .get())
                .isNull();
          }
        });
  }

  private void activate(String pod, boolean active) {
    manager()
        .resource(workload(pod))
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"active\":" + active + "}}");
  }

  @Test
  void aPodRunsInAWorkerAndItsStateIsSeenHereUntilItsEnd() {
    submit("single", "sluice.dev/run-for: 6s");

    awaitPhase("single", "Running");
    String workload = workload("single").getMetadata().getName();
    Pod there = there(cluster("single"), "single");
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

    awaitPhase("single", "Succeeded");
    eventually(
        () -> {
          assertThat(workload("single").getStatus().conditions())
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
    String workload = workload("brief").getMetadata().getName();

    manager().resource(here("brief")).delete();

    eventually(() -> assertThat(pod(manager(), "brief")).isNull());
    awaitNothingLeft("brief", workload);
  }

  @Test
  void aPodThatIsSentBackWaitsHereAgainAndRunsWhenItMay() {
    submit("paused", "sluice.dev/run-for: 5s");
    awaitPhase("paused", "Running");
    String workload = workload("paused").getMetadata().getName();
    String uid = here("paused").getMetadata().getUid();

    activate("paused", false);

    eventually(
        () -> {
          assertThat(phase("paused")).isEqualTo("Pending");
          assertThat(workload("paused").getStatus().admission()).isNull();
          assertThat(here("paused").getStatus().getContainerStatuses()).isEmpty();
        });
    awaitNothingLeft("paused", workload);

    activate("paused", true);
    awaitPhase("paused", "Succeeded");
    assertThat(here("paused").getMetadata().getUid()).isEqualTo(uid);
    awaitNothingLeft("paused", workload);
  }

  @Test
  void aPodOfALostWorkerRunsElsewhere() {
    submit("survivor", "sluice.dev/run-for: 25s");
    awaitPhase("survivor", "Running");
    String workload = workload("survivor").getMetadata().getName();
    String first = cluster("survivor");
    String other = first.equals("onsite") ? "remote" : "onsite";

    twoWorkersFixture.cutOff(first);

    eventually(
        () -> {
          assertThat(cluster("survivor")).isEqualTo(other);
          assertThat(phase("survivor")).isEqualTo("Running");
        });
    twoWorkersFixture.bringBack(first, PODS);
    awaitPhase("survivor", "Succeeded");
    awaitNothingLeft("survivor", workload);
  }

  @Test
  void aGroupRunsInOneWorkerAndWhatReplacesAFailedPodFollows() {
    submitMember("good", "duo", "sluice.dev/run-for: 3s");
    submitMember("bad", "duo", "sluice.dev/run-for: 3s, sluice.dev/exit-code: '3'");

    awaitPhase("good", "Succeeded");
    awaitPhase("bad", "Failed");
    String cluster = cluster("good");
    assertThat(there(cluster, "bad").getStatus().getPhase()).isEqualTo("Failed");
    String other = cluster.equals("onsite") ? "remote" : "onsite";
    assertThat(pod(twoWorkersFixture.worker(other), "good")).isNull();
    assertThat(pod(twoWorkersFixture.worker(other), "bad")).isNull();
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
            assertThat(workload("good").getStatus().conditions())
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
