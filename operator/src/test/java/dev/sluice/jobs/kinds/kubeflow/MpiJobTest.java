package dev.sluice.jobs.kinds.kubeflow;

import static dev.sluice.jobs.GivenObject.podSets;
import static dev.sluice.jobs.GivenObject.started;
import static dev.sluice.jobs.GivenObject.status;
import static dev.sluice.jobs.GivenObject.stopped;
import static dev.sluice.jobs.GivenObject.with;
import static dev.sluice.jobs.GivenObject.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.jobs.kind.JobKindDescription.FieldDefault;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kind.WebhookRules;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** MPIJobs as their integration sees them. */
class MpiJobTest {

  private static final MpiJob KIND = new MpiJob();
  private static final ObjectNode JOB =
      yaml(
          """
          metadata: {name: mpi, namespace: team, uid: u}
          spec:
            runLauncherAsWorker: true
            runPolicy: {suspend: true}
            mpiReplicaSpecs:
              Worker:
                replicas: 3
                template: {spec: {priorityClassName: low, containers: [{name: c, image: w}]}}
              Launcher:
                replicas: 2
                template: {spec: {nodeSelector: {disk: fast}, containers: [{name: c, image: l}]}}
          """);

  @Test
  void oneLauncherAndAllWorkers() {
    assertThat(KIND.kind().apiVersion()).isEqualTo("kubeflow.org/v2beta1");
    assertThat(KIND.kind().framework()).isEqualTo("kubeflow.org/mpijob");
    assertThat(podSets(KIND, JOB)).containsExactly("launcher=1", "worker=3");
    assertThat(KIND.priorityClass(JOB)).isEmpty();
    assertThat(
            KIND.priorityClass(
                with(JOB, "{spec: {runPolicy: {schedulingPolicy: {priorityClass: high}}}}")))
        .isEqualTo("high");
  }

  @Test
  void aStartReachesBothTemplatesAndAStopTakesItBack() throws StartConflictException {
    ObjectNode started = started(KIND, JOB);

    assertThat(started.at("/spec/runPolicy/suspend").asBoolean(true)).isFalse();
    assertThat(KIND.podSets(started))
        .allSatisfy(
            podSet ->
                assertThat(podSet.template().at("/spec/nodeSelector/pool").asText())
                    .isEqualTo("of-" + podSet.name()));
    assertThat(stopped(KIND, started, Optional.of(KIND.podSets(JOB)))).isEqualTo(JOB);
  }

  @Test
  void placesOfWorkersAreCountedFromOneIfTheLauncherWorksToo() {
    assertThat(KIND.defaults(JOB))
        .containsExactly(
            new FieldDefault(
                List.of(
                    "spec",
                    "mpiReplicaSpecs",
                    "Worker",
                    "template",
                    "metadata",
                    "annotations",
                    "kueue.x-k8s.io/pod-index-offset"),
                TextNode.valueOf("1")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{spec: {runLauncherAsWorker: false}}",
        "{spec: {runLauncherAsWorker: null}}",
        "{spec: {mpiReplicaSpecs: {Launcher: null}}}",
        "{spec: {mpiReplicaSpecs: {Worker: null}}}",
        "{spec: {mpiReplicaSpecs: {Worker: {template: {metadata: {annotations:"
            + " {kueue.x-k8s.io/podset-group-name: g}}}}}}}",
        "{spec: {mpiReplicaSpecs: {Launcher: {template: {metadata: {annotations:"
            + " {kueue.x-k8s.io/podset-group-name: g}}}}}}}",
        "{spec: {mpiReplicaSpecs: {Worker: {template: {metadata: {annotations:"
            + " {kueue.x-k8s.io/pod-index-offset: '2'}}}}}}}",
        "{spec: {mpiReplicaSpecs: 7}}"
      })
  void otherwiseTheyAreNot(String change) {
    assertThat(KIND.defaults(with(JOB, change))).isEmpty();
  }

  @Test
  void stateOfTheStatus() {
    ObjectNode running = with(JOB, "{spec: {runPolicy: {suspend: false}}}");

    assertThat(
            KIND.state(status(running, "{replicaStatuses: {Launcher: {active: 1}, Worker: {}}}"))
                .active())
        .isTrue();
    assertThat(
            KIND.state(status(running, "{conditions: [{type: Running, status: 'True'}]}"))
                .podsReady())
        .isTrue();
    assertThat(
            KIND.state(
                    status(
                        running, "{conditions: [{type: Failed, status: 'True', message: broke}]}"))
                .end())
        .contains(new JobState.End(false, "broke"));
  }

  @Test
  void whatTheRestOfTheOperatorHasToKnow() {
    assertThat(KIND.webhooks().review())
        .isEqualTo(
            new WebhookRules.Review.SuspendField(
                List.of("spec", "runPolicy", "suspend"),
                List.of("spec", "runPolicy", "managedBy"),
                "kubeflow.org/mpi-operator"));
    assertThat(KIND.multiKueue().orElseThrow().status().pods()).containsExactly("replicaStatuses");
  }
}
