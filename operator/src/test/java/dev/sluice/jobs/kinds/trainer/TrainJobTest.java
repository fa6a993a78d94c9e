package dev.sluice.jobs.kinds.trainer;

import static dev.sluice.jobs.GivenObject.infos;
import static dev.sluice.jobs.GivenObject.podSets;
import static dev.sluice.jobs.GivenObject.started;
import static dev.sluice.jobs.GivenObject.status;
import static dev.sluice.jobs.GivenObject.stopped;
import static dev.sluice.jobs.GivenObject.with;
import static dev.sluice.jobs.GivenObject.yaml;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobReference;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.StartConflictException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** TrainJobs, with the spec of their runtime, as their integration sees them. */
class TrainJobTest {

  private static final TrainJob KIND = new TrainJob();

  private static final ObjectNode RUNTIME =
      yaml(
          """
          mlPolicy: {numNodes: 2}
          template:
            spec:
              replicatedJobs:
              - name: dataset-initializer
                template:
                  metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: dataset-initializer}}
                  spec:
                    template:
                      spec: {containers: [{name: dataset-initializer, image: fetch}]}
              - name: Node
                template:
                  metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                  spec:
                    template:
                      metadata: {annotations: {kueue.x-k8s.io/podset-preferred-topology: rack}}
                      spec:
                        nodeSelector: {disk: fast}
                        tolerations: [{key: own, operator: Exists}]
                        containers:
                        - {name: node, image: old, env: [{name: A, value: a}], resources: {requests: {cpu: "1", memory: 1Gi}}}
                        - {name: beside, image: other}
          """);

  private static final ObjectNode JOB =
      of(
          RUNTIME,
          """
          metadata: {name: train, namespace: team, uid: u}
          spec:
            suspend: true
            runtimeRef: {name: torch}
            runtimePatches:
            - {manager: someone/else}
            - {manager: kueue.x-k8s.io/manager, time: "2026-05-01T15:20:00Z"}
          """);

  private static ObjectNode of(JsonNode runtime, String job) {
    ObjectNode object = yaml(job);
    JobReference.setSpec(object, runtime);
    return object;
  }

  private static JsonNode template(JsonNode job, int podSet) {
    return KIND.podSets(job).get(podSet).template();
  }

  @Test
  void thePodSetsAreThoseOfTheJobSetThatIsMadeOfTheRuntime() {
    assertThat(KIND.kind().framework()).isEqualTo("trainer.kubeflow.org/trainjob");
    assertThat(podSets(KIND, JOB)).containsExactly("dataset-initializer=1", "node=2");
    assertThat(podSets(KIND, with(JOB, "{spec: {trainer: {numNodes: 5}}}")))
        .containsExactly("dataset-initializer=1", "node=5");
    assertThat(KIND.podSets(JOB).getLast().topologyRequest().orElseThrow().toString())
        .contains("\"podIndexLabel\":\"batch.kubernetes.io/job-completion-index\"")
        .contains("\"subGroupIndexLabel\":\"jobset.sigs.k8s.io/job-index\"");
  }

  /** The trainer sets it so, whatever the runtime says. */
  @Test
  void aStepThatIsNotTheTrainerIsOnePod() {
    ObjectNode runtime = RUNTIME.deepCopy();
    ((ObjectNode) runtime.at("/template/spec/replicatedJobs/0/template/spec"))
        .put("parallelism", 4)
        .put("completions", 4);
    ObjectNode job = JOB.deepCopy();
    JobReference.setSpec(job, runtime);
    assertThat(podSets(KIND, job)).containsExactly("dataset-initializer=1", "node=2");
  }

  @Test
  void theTrainerChangesTheContainerThatTrains() {
    ObjectNode job =
        with(
            JOB,
            """
            spec:
              trainer:
                image: new
                command: [run]
                args: [fast]
                env: [{name: A, value: b}, {name: B, value: c}]
                resourcesPerNode: {requests: {cpu: "4"}, limits: {gpu: "1"}}
            """);

    assertThat(template(job, 1).at("/spec/containers"))
        .isEqualTo(
            yaml("""
            containers:
            - name: node
              image: new
              env: [{name: A, value: b}, {name: B, value: c}]
              resources: {requests: {cpu: "4", memory: 1Gi}, limits: {gpu: "1"}}
              command: [run]
              args: [fast]
            - {name: beside, image: other}
            """)
                .path("containers"));
    assertThat(template(job, 0).at("/spec/containers/0/image").asText()).isEqualTo("fetch");
  }

  @Test
  void anInitializerIsToldWhatToFetch() {
    ObjectNode job =
        with(
            JOB,
            """
            spec: {initializer: {dataset: {storageUri: "s3://x", env: [{name: E, value: e}],
              secretRef: {name: s}}, model: {storageUri: "hf://y"}}}
            """);

    assertThat(template(job, 0).at("/spec/containers/0"))
        .isEqualTo(
            yaml(
                """
                name: dataset-initializer
                image: fetch
                env: [{name: STORAGE_URI, value: "s3://x"}, {name: E, value: e}]
                envFrom: [{secretRef: {name: s}}]
                """));
  }

  @Test
  void patchesOfOthersAreAppliedInTheirOrderAndTheOwnEntryIsNot() {
    String patch =
        """
        {manager: %s, trainingRuntimeSpec: {template: {spec: {replicatedJobs: [{name: Node, template:
          {spec: {template: {metadata: {labels: {team: %2$s}}, spec: {nodeSelector: {zone: %2$s},
           tolerations: [{key: %2$s}], hostNetwork: true,
           containers: [{name: node, env: [{name: A, value: %2$s}]}]}}}}}]}}}}
        """;
    ObjectNode job =
        with(
            JOB,
            "{spec: {runtimePatches: [%s, %s, %s]}}"
                .formatted(
                    patch.formatted("a/a", "first"),
                    patch.formatted("b/b", "last"),
                    patch.formatted("kueue.x-k8s.io/manager", "own")));

    JsonNode template = template(job, 1);
    assertThat(template.at("/metadata/labels/team").asText()).isEqualTo("last");
    assertThat(template.at("/spec/nodeSelector")).isEqualTo(yaml("{disk: fast, zone: last}"));
    assertThat(template.at("/spec/tolerations").toString()).isEqualTo("[{\"key\":\"last\"}]");
    assertThat(template.at("/spec/containers/0/env/0/value").asText()).isEqualTo("last");
    assertThat(template.at("/spec/containers/0/image").asText()).isEqualTo("old");
    assertThat(template.path("spec").has("hostNetwork")).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"true, 3", "false, 4"})
  void withMpiTheLauncherMayBeANode(boolean launcherIsNode, int pods) {
    ObjectNode runtime =
        yaml(
            """
            mlPolicy: {numNodes: 1, mpi: {runLauncherAsNode: %s}}
            template:
              spec:
                replicatedJobs:
                - name: launcher
                  template:
                    metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                    spec: {template: {spec: {containers: [{name: node, image: l}]}}}
                - name: node
                  template: {spec: {template: {spec: {containers: [{name: node, image: n}]}}}}
            """
                .formatted(launcherIsNode));
    ObjectNode job =
        of(
            runtime,
            """
            spec: {trainer: {numNodes: 4, command: [mpirun], resourcesPerNode: {requests: {cpu: "2"}}}}
            """);

    assertThat(podSets(KIND, job)).containsExactly("launcher=1", "node=" + pods);
    assertThat(template(job, 1).at("/spec/containers/0/resources/requests/cpu").asText())
        .isEqualTo("2");
    assertThat(template(job, 0).at("/spec/containers/0").has("command")).isTrue();
    assertThat(template(job, 1).at("/spec/containers/0").has("command")).isFalse();
  }

  /** Changes of 0.20, section 2: as Trainer 2.3 has it. */
  @Test
  void aStartIsAnEntryOfThePatchesThatAStopEmpties() throws StartConflictException {
    ObjectNode started = started(KIND, JOB);

    assertThat(started.at("/spec/suspend").asBoolean(true)).isFalse();
    assertThat(started.at("/spec/runtimePatches/0")).isEqualTo(yaml("{manager: someone/else}"));
    JsonNode jobs =
        started.at("/spec/runtimePatches/1/trainingRuntimeSpec/template/spec/replicatedJobs");
    assertThat(jobs.at("/0/name").asText()).isEqualTo("dataset-initializer");
    assertThat(jobs.at("/1"))
        .isEqualTo(
            yaml(
                """
                name: Node
                template:
                  spec:
                    template:
                      metadata:
                        labels: {kueue.x-k8s.io/podset: node}
                        annotations: {kueue.x-k8s.io/workload: w}
                      spec:
                        nodeSelector: {pool: of-node}
                        tolerations: [{key: own, operator: Exists}, {key: spot, operator: Exists}]
                        schedulingGates: [{name: kueue.x-k8s.io/topology}]
                """));
    assertThat(KIND.podSets(started)).isEqualTo(KIND.podSets(JOB));
    assertThat(stopped(KIND, started, Optional.of(KIND.podSets(JOB)))).isEqualTo(JOB);

    ObjectNode other = yaml(JOB.toString().replace("\"disk\":\"fast\"", "\"pool\":\"other\""));
    assertThatThrownBy(() -> KIND.start(other, infos(KIND, other)))
        .isInstanceOf(StartConflictException.class);
  }

  @Test
  void theEntryStaysUntilThePodsAreGone() throws StartConflictException {
    ObjectNode running = status(started(KIND, JOB), "{jobsStatus: [{name: Node, active: 1}]}");

    ObjectNode suspended = stopped(KIND, running, Optional.empty());
    assertThat(suspended).isEqualTo(with(running, "{spec: {suspend: true}}"));
    assertThat(KIND.state(suspended).settled()).isFalse();
    assertThat(KIND.state(suspended).stopUnfinished()).isFalse();

    ObjectNode gone = status(suspended, "{}");
    assertThat(KIND.state(gone).stopUnfinished()).isTrue();
    assertThat(stopped(KIND, gone, Optional.empty()).path("spec")).isEqualTo(JOB.path("spec"));
  }

  @Test
  void stateOfTheStatus() {
    ObjectNode running = with(JOB, "{spec: {suspend: false}}");

    JobState done =
        KIND.state(
            status(
                running,
                """
                jobsStatus:
                - {name: dataset-initializer, succeeded: 1}
                - {name: Node, ready: 1, active: 1}
                """));
    assertThat(done.active()).isTrue();
    assertThat(done.podsReady()).isTrue();
    assertThat(done.reclaimable()).isEqualTo(Map.of("dataset-initializer", 1));
    assertThat(KIND.state(status(running, "{jobsStatus: [{name: Node, ready: 1}]}")).podsReady())
        .isFalse();
    assertThat(
            KIND.state(
                    status(
                        running, "{conditions: [{type: Complete, status: 'True', message: well}]}"))
                .end())
        .contains(new JobState.End(true, "well"));
    assertThat(
            KIND.state(
                    status(
                        running, "{conditions: [{type: Failed, status: 'True', message: broke}]}"))
                .end())
        .contains(new JobState.End(false, "broke"));
  }

  @Test
  void withoutItsRuntimeNothingIsKnownOfItsPods() {
    ObjectNode job = yaml("{spec: {runtimeRef: {name: torch}}}");

    assertThat(KIND.podSets(job)).isEmpty();
    assertThat(KIND.state(job).podsReady()).isFalse();
    assertThat(KIND.reference(job).orElseThrow()).hasToString("ClusterTrainingRuntime \"torch\"");
    assertThat(
            KIND.reference(yaml("{spec: {runtimeRef: {kind: TrainingRuntime, name: own}}}"))
                .orElseThrow())
        .isEqualTo(new JobReference(TrainJob.RUNTIME, "own"));
  }

  @Test
  void aJobGetsItsEntryAtItsCreation() {
    assertThat(KIND.defaults(JOB)).isEmpty();
    assertThat(KIND.defaults(yaml("{spec: {runtimePatches: [{manager: a/b}]}}")))
        .singleElement()
        .satisfies(
            it -> {
              assertThat(it.path()).containsExactly("spec", "runtimePatches");
              assertThat(it.value().toString())
                  .isEqualTo("[{\"manager\":\"a/b\"},{\"manager\":\"kueue.x-k8s.io/manager\"}]");
            });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{spec: 7, status: 7}",
        "{spec: {runtimePatches: {manager: x}, runtimeRef: 7, trainer: [1]}}",
        "{spec: {runtimePatches: [7, {manager: [x], trainingRuntimeSpec: {template: {spec:"
            + " {replicatedJobs: [{name: Node, template: {spec: {template: {metadata: {labels: 3},"
            + " spec: {containers: 5, tolerations: x}}}}}]}}}}]}}",
        "{spec: {trainer: {numNodes: -3, env: 7, resourcesPerNode: {limits: 4}}, initializer:"
            + " {dataset: {env: x, secretRef: 3}}}, status: {jobsStatus: [7, {name: Node}]}}"
      })
  void anythingCanBeRead(String object) {
    for (JsonNode runtime :
        List.of(
            RUNTIME,
            yaml("{template: 7, mlPolicy: [1]}"),
            yaml("{template: {spec: {replicatedJobs: [7, {name: [x], template: 7}]}}}"))) {
      ObjectNode job = of(runtime, object);
      assertThat(KIND.state(job).suspended()).isFalse();
      assertThat(KIND.podSets(job)).allMatch(podSet -> podSet.count() >= 0);
      assertThat(KIND.nextStopStep(job, Optional.empty())).isPresent();
      assertThat(KIND.defaults(job)).hasSize(1);
    }
  }
}
