package dev.sluice.jobs.kinds.ray;

import static dev.sluice.jobs.GivenObject.podSets;
import static dev.sluice.jobs.GivenObject.started;
import static dev.sluice.jobs.GivenObject.status;
import static dev.sluice.jobs.GivenObject.stopped;
import static dev.sluice.jobs.GivenObject.with;
import static dev.sluice.jobs.GivenObject.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.StartConflictException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A RayJob as the integration sees it. */
class RayJobTest {

  private static final ObjectNode JOB =
      yaml(
          """
          apiVersion: ray.io/v1
          kind: RayJob
          metadata: {name: ray, namespace: team, uid: u}
          spec:
            suspend: true
            shutdownAfterJobFinishes: true
            rayClusterSpec:
              headGroupSpec:
                template: {spec: {containers: [{name: ray, image: "rayproject/ray:2.46"}]}}
              workerGroupSpecs:
              - groupName: small
                replicas: 2
                template: {spec: {containers: [{name: ray, image: i}]}}
          """);
  private static final String OWN_SUBMITTER =
      """
      spec:
        submitterPodTemplate:
          spec:
            nodeSelector: {disk: fast}
            containers: [{name: mine, image: i}]
      """;
  private static final JsonNode DEFAULT_SUBMITTER =
      yaml(
          """
          name: ray-job-submitter
          image: rayproject/ray:2.46
          resources:
            requests: {cpu: 500m, memory: 200Mi}
            limits: {cpu: "1", memory: 1Gi}
          """);

  private final RayJob kind = new RayJob();

  private JobState state(String status) {
    return kind.state(status(with(JOB, "{spec: {suspend: false}}"), status));
  }

  private JobState in(String deployment) {
    return state("{jobDeploymentStatus: '%s'}".formatted(deployment));
  }

  @Test
  void aJobThatSubmitsIsAPodSet() {
    assertThat(podSets(kind, JOB)).containsExactly("head=1", "small=2", "submitter=1");
    assertThat(podSets(kind, with(JOB, "{spec: {submissionMode: K8sJobMode}}"))).hasSize(3);
    assertThat(kind.podSets(JOB).getLast().template().at("/spec/containers"))
        .containsExactly(DEFAULT_SUBMITTER);
    PodSetTemplate own = kind.podSets(with(JOB, OWN_SUBMITTER)).getLast();
    assertThat(own.name()).isEqualTo("submitter");
    assertThat(own.template().at("/spec/containers/0/name").asText()).isEqualTo("mine");
  }

  @Test
  void otherModesHaveNoPodForIt() {
    ObjectNode http = with(JOB, "{spec: {submissionMode: HTTPMode}}");
    ObjectNode sidecar = with(JOB, "{spec: {submissionMode: SidecarMode}}");

    assertThat(podSets(kind, http)).containsExactly("head=1", "small=2");
    assertThat(kind.podSets(http).getFirst().template().at("/spec/containers")).hasSize(1);
    assertThat(podSets(kind, sidecar)).containsExactly("head=1", "small=2");
    assertThat(kind.podSets(sidecar).getFirst().template().at("/spec/containers"))
        .hasSize(2)
        .last()
        .isEqualTo(DEFAULT_SUBMITTER);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{spec: 7, status: []}",
        "{spec: {submissionMode: [], submitterPodTemplate: 7, clusterSelector: x}}",
        "{spec: {submissionMode: SidecarMode, rayClusterSpec: {headGroupSpec: {template: []}}}}",
        "{spec: {rayClusterSpec: []}, status: {jobDeploymentStatus: {a: b}, message: []}}"
      })
  void anythingCanBeRead(String object) {
    assertThat(kind.state(yaml(object)).end()).isEmpty();
    assertThat(kind.podSets(yaml(object))).isNotEmpty();
    assertThat(kind.nextStopStep(yaml(object), Optional.empty())).isPresent();
    assertThat(kind.validate(yaml(object), false)).isNotNull();
  }

  @Test
  void aStartReachesTheTemplatesOfTheObjectAndAStopTakesItBack() throws StartConflictException {
    ObjectNode job = with(JOB, OWN_SUBMITTER);
    ObjectNode started = started(kind, job);

    assertThat(started.at("/spec/suspend").asBoolean()).isFalse();
    assertThat(started.at("/spec/rayClusterSpec/headGroupSpec/template/spec/nodeSelector"))
        .isEqualTo(yaml("{pool: of-head}"));
    assertThat(started.at("/spec/submitterPodTemplate/spec/nodeSelector"))
        .isEqualTo(yaml("{disk: fast, pool: of-submitter}"));
    assertThat(stopped(kind, started, Optional.of(kind.podSets(job)))).isEqualTo(job);
  }

  @Test
  void aSubmitterWithoutTemplateGetsTheOneThatKubeRayMakes() throws StartConflictException {
    ObjectNode started = started(kind, JOB);

    assertThat(started.at("/spec/submitterPodTemplate/spec/nodeSelector"))
        .isEqualTo(yaml("{pool: of-submitter}"));
    assertThat(started.at("/spec/submitterPodTemplate/spec/tolerations"))
        .containsExactly(yaml("{key: spot, operator: Exists}"));
    assertThat(started.at("/spec/submitterPodTemplate/spec/restartPolicy").asText())
        .isEqualTo("Never");
    assertThat(started.at("/spec/submitterPodTemplate/spec/containers"))
        .containsExactly(DEFAULT_SUBMITTER);
    assertThat(podSets(kind, started)).isEqualTo(podSets(kind, JOB));
    assertThat(started.at("/spec/rayClusterSpec/workerGroupSpecs/0/template/spec/nodeSelector"))
        .isEqualTo(yaml("{pool: of-small}"));
    assertThat(stopped(kind, started, Optional.of(kind.podSets(JOB)))).isEqualTo(JOB);
    ObjectNode sidecar = with(JOB, "{spec: {submissionMode: SidecarMode}}");
    assertThat(started(kind, sidecar).at("/spec").has("submitterPodTemplate")).isFalse();
    assertThat(stopped(kind, started(kind, sidecar), Optional.of(kind.podSets(sidecar))))
        .isEqualTo(sidecar);
  }

  @ParameterizedTest
  @CsvSource({
    "'', false",
    "Initializing, true",
    "Waiting, true",
    "Running, true",
    "Retrying, true",
    "Suspending, true",
    "Suspended, false",
    "ValidationFailed, false",
    "SomethingNew, true"
  })
  void itIsActiveUnlessItsStatusSaysThatItHasNoPods(String deployment, boolean active) {
    assertThat(in(deployment).active()).isEqualTo(active);
    assertThat(in(deployment).end()).isEmpty();
  }

  @Test
  void itIsReadyWhenItsClusterIs() {
    assertThat(state("{rayClusterStatus: {state: ready}}").podsReady()).isTrue();
    assertThat(state("{rayClusterStatus: {state: failed}}").podsReady()).isFalse();
    assertThat(state("{}").podsReady()).isFalse();
  }

  @Test
  void itEndsAsTheRayJobDoes() {
    assertThat(state("{jobDeploymentStatus: Complete, jobStatus: SUCCEEDED, message: m}").end())
        .contains(new JobState.End(true, "m"));
    assertThat(state("{jobDeploymentStatus: Complete, jobStatus: STOPPED, message: m}").end())
        .contains(new JobState.End(false, "m"));
    assertThat(state("{jobDeploymentStatus: Failed, message: late}").end())
        .contains(new JobState.End(false, "late"));
    assertThat(state("{jobDeploymentStatus: Running, jobStatus: SUCCEEDED}").end()).isEmpty();
    assertThat(state("{jobDeploymentStatus: Complete, jobStatus: SUCCEEDED}").reclaimable())
        .isEmpty();
  }

  /** Changes of 0.20, section 1: it gives its quota back. */
  @Test
  void aJobThatIsNotValidIsOnHold() {
    assertThat(in("Running").handling().hold()).isEmpty();
    assertThat(in("ValidationFailed").handling().hold()).contains("The RayJob is not valid");
    assertThat(state("{jobDeploymentStatus: ValidationFailed, message: why}").handling().hold())
        .contains("The RayJob is not valid: why");
  }

  @Test
  void aJobInTheClusterOfSomebodyElseIsNotManaged() {
    assertThat(in("").handling().manageable()).isTrue();
    assertThat(kind.isManageable(with(JOB, "{spec: {clusterSelector: {}}}"))).isTrue();
    ObjectNode elsewhere = with(JOB, "{spec: {clusterSelector: {ray.io/cluster: c}}}");
    assertThat(kind.isManageable(elsewhere)).isFalse();
    assertThat(kind.state(elsewhere).handling().manageable()).isFalse();
  }

  @Test
  void whatTheRestOfTheOperatorHasToKnow() {
    assertThat(kind.kind().framework()).isEqualTo("ray.io/rayjob");
    assertThat(kind.multiKueue().orElseThrow().managedBy())
        .containsExactly(List.of("spec", "managedBy"));
    assertThat(kind.multiKueue().orElseThrow().status().pods()).contains("jobDeploymentStatus");
  }
}
