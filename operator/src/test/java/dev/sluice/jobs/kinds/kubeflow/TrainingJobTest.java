package dev.sluice.jobs.kinds.kubeflow;

import static dev.sluice.jobs.GivenObject.infos;
import static dev.sluice.jobs.GivenObject.podSets;
import static dev.sluice.jobs.GivenObject.started;
import static dev.sluice.jobs.GivenObject.status;
import static dev.sluice.jobs.GivenObject.stopped;
import static dev.sluice.jobs.GivenObject.with;
import static dev.sluice.jobs.GivenObject.yaml;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.InvalidField;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kind.WebhookRules;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Jobs of the training operator as their integration sees them. */
class TrainingJobTest {

  /** Each kind, its name, its field of replicas, and all its pod sets in order. */
  static Stream<Arguments> kinds() {
    return Stream.of(
        Arguments.of(TrainingJob.pyTorch(), "PyTorchJob", "pytorchReplicaSpecs", "master worker"),
        Arguments.of(
            TrainingJob.tensorFlow(),
            "TFJob",
            "tfReplicaSpecs",
            "chief master ps worker evaluator"),
        Arguments.of(TrainingJob.xgBoost(), "XGBoostJob", "xgbReplicaSpecs", "master worker"),
        Arguments.of(TrainingJob.paddle(), "PaddleJob", "paddleReplicaSpecs", "master worker"),
        Arguments.of(TrainingJob.jax(), "JAXJob", "jaxReplicaSpecs", "worker"));
  }

  /** A job with every type of replica that any kind has, the last first. */
  private static ObjectNode job(String field) {
    return yaml(
        """
        metadata: {name: train, namespace: team, uid: u}
        spec:
          runPolicy: {suspend: true, schedulingPolicy: {priorityClass: urgent}}
          %s:
            Evaluator: {template: {spec: {containers: [{name: c, image: e}]}}}
            Worker:
              replicas: 3
              template:
                metadata:
                  annotations: {kueue.x-k8s.io/podset-preferred-topology: rack}
                spec: {nodeSelector: {disk: fast}, containers: [{name: c, image: w}]}
            PS: {template: {spec: {containers: [{name: c, image: p}]}}}
            Master: {replicas: 1, template: {spec: {containers: [{name: c, image: m}]}}}
            Chief: {template: {spec: {containers: [{name: c, image: c}]}}}
        """
            .formatted(field));
  }

  @ParameterizedTest(name = "{1}")
  @MethodSource("kinds")
  void namesAndPodSets(TrainingJob kind, String name, String field, String podSets) {
    assertThat(kind.kind().kind()).isEqualTo(name);
    assertThat(kind.kind().apiVersion()).isEqualTo("kubeflow.org/v1");
    assertThat(kind.kind().framework()).isEqualTo("kubeflow.org/" + name.toLowerCase());
    assertThat(podSets(kind, job(field)))
        .containsExactly(
            Stream.of(podSets.split(" "))
                .map(it -> it + (it.equals("worker") ? "=3" : "=1"))
                .toArray(String[]::new));
    assertThat(kind.priorityClass(job(field))).isEqualTo("urgent");
    assertThat(podSets(kind, job("otherReplicaSpecs"))).isEmpty();
  }

  @ParameterizedTest(name = "{1}")
  @MethodSource("kinds")
  void aStartReachesEveryTemplateAndAStopTakesItBack(
      TrainingJob kind, String name, String field, String podSets) throws StartConflictException {
    ObjectNode job = job(field);
    ObjectNode started = started(kind, job);

    assertThat(started.at("/spec/runPolicy/suspend").asBoolean(true)).isFalse();
    assertThat(kind.podSets(started))
        .allSatisfy(
            podSet -> {
              assertThat(podSet.template().at("/spec/nodeSelector/pool").asText())
                  .isEqualTo("of-" + podSet.name());
              assertThat(podSet.template().at("/spec/tolerations")).hasSize(1);
            });
    assertThat(stopped(kind, started, Optional.of(kind.podSets(job)))).isEqualTo(job);

    ObjectNode other = yaml(job.toString().replace("\"disk\":\"fast\"", "\"pool\":\"other\""));
    assertThatThrownBy(() -> kind.start(other, infos(kind, other)))
        .isInstanceOf(StartConflictException.class);
  }

  private static JobState state(String status) {
    return TrainingJob.pyTorch()
        .state(
            status(
                with(job("pytorchReplicaSpecs"), "{spec: {runPolicy: {suspend: false}}}"), status));
  }

  @Test
  void stateOfTheStatus() {
    assertThat(state("{}").active()).isFalse();
    assertThat(state("{replicaStatuses: {Master: {}, Worker: {active: 2}}}").active()).isTrue();
    assertThat(state("{conditions: [{type: Running, status: 'True'}]}").podsReady()).isTrue();
    assertThat(state("{conditions: [{type: Running, status: 'False'}]}").podsReady()).isFalse();
    assertThat(state("{conditions: [{type: Succeeded, status: 'True', message: done}]}").end())
        .contains(new JobState.End(true, "done"));
    assertThat(state("{conditions: [{type: Failed, status: 'True', message: broke}]}").end())
        .contains(new JobState.End(false, "broke"));
    assertThat(state("{conditions: [{type: Failed, status: 'False'}]}").end()).isEmpty();
    assertThat(state("{replicaStatuses: 7, conditions: 7}").reclaimable()).isEmpty();
  }

  @Test
  void aSuspendedJobIsSettledWhenItsPodsAreGone() {
    TrainingJob kind = TrainingJob.pyTorch();
    ObjectNode job = job("pytorchReplicaSpecs");

    assertThat(kind.state(job).suspended()).isTrue();
    assertThat(kind.state(job).settled()).isTrue();
    assertThat(kind.state(status(job, "{replicaStatuses: {Worker: {active: 1}}}")).settled())
        .isFalse();
  }

  @Test
  void anythingCanBeRead() {
    TrainingJob kind = TrainingJob.pyTorch();
    for (String object :
        List.of(
            "{}",
            "{spec: {runPolicy: 7, pytorchReplicaSpecs: [1]}}",
            "{spec: {pytorchReplicaSpecs: {Master: 7, Worker: {replicas: x, template: []}}}}")) {
      assertThat(kind.state(yaml(object)).suspended()).isFalse();
      assertThat(kind.podSets(yaml(object))).allMatch(podSet -> podSet.template().isEmpty());
      assertThat(kind.nextStopStep(yaml(object), Optional.empty())).isPresent();
    }
  }

  @Test
  void whatTheRestOfTheOperatorHasToKnow() {
    TrainingJob kind = TrainingJob.jax();

    assertThat(kind.webhooks().review())
        .isEqualTo(
            new WebhookRules.Review.SuspendField(
                List.of("spec", "runPolicy", "suspend"),
                List.of("spec", "runPolicy", "managedBy"),
                "kubeflow.org/training-operator"));
    assertThat(kind.multiKueue().orElseThrow().suspend())
        .containsExactly("spec", "runPolicy", "suspend");
    assertThat(kind.multiKueue().orElseThrow().status().pods()).containsExactly("replicaStatuses");
    assertThat(
            kind.podSets(job("jaxReplicaSpecs"))
                .getFirst()
                .topologyRequest()
                .orElseThrow()
                .path("podIndexLabel")
                .asText())
        .isEqualTo("training.kubeflow.org/replica-index");
  }

  @Test
  void aStartAndAStopWriteTheAnnotationThatHoldsAJob() throws StartConflictException {
    ObjectNode job =
        yaml(
            """
            metadata: {name: tf, annotations: {scheduling.x-k8s.io/suspend: "true"}}
            spec:
              runPolicy: {suspend: true}
              tfReplicaSpecs: {Worker: {template: {spec: {containers: [{name: c}]}}}}
            """);
    String annotation = "/metadata/annotations/scheduling.x-k8s.io~1suspend";
    TrainingJob kind = TrainingJob.tensorFlow();
    ObjectNode started = started(kind, job);
    assertThat(started.at(annotation).asText()).isEqualTo("false");
    assertThat(stopped(kind, started, Optional.of(kind.podSets(job)))).isEqualTo(job);

    ObjectNode without = job.deepCopy();
    without.remove("metadata");
    assertThat(started(kind, without).at(annotation).isMissingNode()).isTrue();
  }

  @ParameterizedTest(name = "{1}")
  @MethodSource("kinds")
  void typesInAnotherCaseCount(TrainingJob kind, String name, String field, String podSets)
      throws StartConflictException {
    ObjectNode job =
        yaml(
            "{metadata: {name: a, uid: u}, spec: {runPolicy: {suspend: true}, "
                + field
                + ": {wORKER: {replicas: 100, template: {spec: {containers: [{name: c}]}}}}}}");
    assertThat(podSets(kind, job)).containsExactly("worker=100");
    assertThat(kind.validate(job, false)).isEmpty();
    assertThat(started(kind, job).at("/spec/" + field + "/wORKER/template/spec/nodeSelector/pool"))
        .hasToString("\"of-worker\"");
  }

  @Test
  void typesThatAreUnknownOrGivenTwiceAreRefusedAndHeld() {
    TrainingJob kind = TrainingJob.pyTorch();
    ObjectNode job =
        yaml(
            "{metadata: {name: a}, spec: {pytorchReplicaSpecs: {Worker: {}, worker: {}, Helper:"
                + " {}}}}");
    assertThat(kind.validate(job, false))
        .extracting(InvalidField::path)
        .containsExactly("spec.pytorchReplicaSpecs[worker]", "spec.pytorchReplicaSpecs[Helper]");
    assertThat(kind.state(job).handling().hold())
        .contains(
            "What the job runs can't be counted: spec.pytorchReplicaSpecs[worker]: must be one of"
                + " the types Master, Worker, each given once");
  }
}
