package dev.sluice.jobs.kinds.argo;

import static dev.sluice.jobs.GivenObject.status;
import static dev.sluice.jobs.GivenObject.stopped;
import static dev.sluice.jobs.GivenObject.with;
import static dev.sluice.jobs.GivenObject.yaml;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.kube.json.JsonMergePatch;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Workflows of Argo as their integration sees them. */
class WorkflowTest {

  private static final Workflow KIND =
      new Workflow(InstantSource.fixed(Instant.parse("2026-03-01T10:00:00.5Z")));

  private static final ObjectNode SUBMITTED =
      yaml(
          """
          metadata: {name: w, namespace: team, uid: u, generation: 5}
          spec:
            entrypoint: main
            nodeSelector: {disk: fast}
            podMetadata: {labels: {a: b}}
            podPriorityClassName: high
            templates:
            - name: main
              steps:
              - [{name: hold, template: kube-queue-suspend}]
              - [{name: a, template: work}, {name: b, template: work}]
            - {name: kube-queue-suspend, suspend: {}}
            - {name: work, container: {image: i, resources: {requests: {cpu: 500m}}}}
          """);

  private static final ObjectNode HELD =
      status(
          SUBMITTED,
          """
          phase: Running
          nodes:
            w: {type: Steps, phase: Running, templateName: main}
            w-1: {type: Suspend, phase: Running, templateName: kube-queue-suspend}
          """);

  private static final PodSetInfo INFO =
      new PodSetInfo(
          "main",
          1,
          Map.of("kueue.x-k8s.io/podset", "main"),
          Map.of("kueue.x-k8s.io/workload", "x"),
          Map.of("pool", "spot"),
          List.of(yaml("{key: spot, operator: Exists}")),
          List.of());

  private static ObjectNode started(ObjectNode object) throws StartConflictException {
    ObjectNode result = object;
    for (JobPatch patch : KIND.start(object, List.of(INFO))) {
      assertThat(patch.ofStatus()).as("the kind has no status subresource").isFalse();
      result = JsonMergePatch.applied(result, patch.body());
    }
    return result;
  }

  @Test
  void aKindOfKubeQueueWithoutWebhooksAndWorkers() {
    assertThat(KIND.kind().apiVersion()).isEqualTo("argoproj.io/v1alpha1");
    assertThat(KIND.kind().definition()).isEqualTo("workflows.argoproj.io");
    assertThat(KIND.multiKueue()).isEmpty();
  }

  @Test
  void itWaitsWhileANodeOfTheTemplateRuns() {
    assertThat(KIND.state(SUBMITTED).suspended()).isFalse();
    assertThat(KIND.neverStarted(SUBMITTED)).isFalse();
    JobState held = KIND.state(HELD);
    assertThat(held.suspended()).isTrue();
    assertThat(held.active()).isFalse();
    assertThat(held.settled()).isTrue();
    assertThat(held.stopUnfinished()).isFalse();
    assertThat(held.end()).isEmpty();
    assertThat(KIND.neverStarted(HELD)).as("its generation counts changes of its status").isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "Suspend, Running, templateName: kube-queue-suspend, true",
    "Suspend, Running, templateName: koord-queue-suspend, true",
    "Suspend, Running, 'templateRef: {name: shared, template: kube-queue-suspend}', true",
    "Suspend, Running, templateName: approve, false",
    "Suspend, Succeeded, templateName: kube-queue-suspend, false",
    "Pod, Running, templateName: kube-queue-suspend, false",
  })
  void whichNodesHold(String type, String phase, String template, boolean holds) {
    ObjectNode object =
        status(
            SUBMITTED,
            "{phase: Running, nodes: {n: {type: %s, phase: %s, %s}}}"
                .formatted(type, phase, template));
    assertThat(KIND.state(object).suspended()).isEqualTo(holds);
  }

  @Test
  void aStartResumesTheNodeAsArgoResumeDoes() throws Exception {
    ObjectNode started = started(HELD);

    assertThat(started.at("/status/nodes/w-1"))
        .isEqualTo(
            yaml(
                """
                type: Suspend
                phase: Succeeded
                finishedAt: "2026-03-01T10:00:00Z"
                templateName: kube-queue-suspend
                """));
    assertThat(started.at("/status/nodes/w")).isEqualTo(HELD.at("/status/nodes/w"));
    assertThat(started.at("/spec/nodeSelector")).isEqualTo(yaml("{disk: fast, pool: spot}"));
    assertThat(started.at("/spec/tolerations/0/key").asText()).isEqualTo("spot");
    assertThat(started.at("/spec/podMetadata"))
        .isEqualTo(
            yaml(
                """
                labels: {a: b, kueue.x-k8s.io/podset: main}
                annotations: {kueue.x-k8s.io/workload: x}
                """));
    assertThat(started.at("/spec").has("suspend")).isFalse();
    assertThat(KIND.state(started).suspended()).isFalse();
    assertThat(KIND.state(started).podsReady()).isTrue();
  }

  @Test
  void theNextNodeOfTheTemplateIsResumedAsWell() throws Exception {
    ObjectNode again =
        with(
            started(HELD),
            "{status: {nodes: {w-9: {type: Suspend, phase: Running, templateName:"
                + " koord-queue-suspend}}}}");

    assertThat(KIND.state(again).suspended()).isTrue();
    assertThat(KIND.neverStarted(again)).isFalse();
    assertThat(KIND.state(again).stopUnfinished()).isFalse();
    assertThat(started(again).at("/status/nodes/w-9/phase").asText()).isEqualTo("Succeeded");
    assertThat(started(again).get("spec")).isEqualTo(started(HELD).get("spec"));
  }

  @Test
  void aStopSuspendsTheWholeAndIsActiveUntilThePodsHaveEnded() throws Exception {
    ObjectNode running = with(started(HELD), "{status: {nodes: {p: {type: Pod, phase: Running}}}}");
    List<PodSetTemplate> original = KIND.podSets(HELD);
    assertThat(KIND.podSets(running)).isEqualTo(original);

    ObjectNode stopped = stopped(KIND, running, Optional.of(original));

    ObjectNode spec = stopped.get("spec").deepCopy();
    assertThat(spec.remove("suspend").asBoolean()).isTrue();
    assertThat(spec).isEqualTo(HELD.get("spec"));
    JobState state = KIND.state(stopped);
    assertThat(state.suspended()).isTrue();
    assertThat(state.active()).isTrue();
    assertThat(state.settled()).isFalse();
    assertThat(state.stopUnfinished()).isFalse();
    ObjectNode ended = with(stopped, "{status: {nodes: {p: {phase: Succeeded}}}}");
    assertThat(KIND.state(ended).settled()).isTrue();
    assertThat(KIND.state(started(ended)).suspended()).isFalse();
    assertThat(started(ended).get("spec")).isEqualTo(started(HELD).get("spec"));
  }

  /** The API server would refuse it, and the suspension with it. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"nodeSelector\": 5}",
        "{\"nodeSelector\": {\"a\": 5}}",
        "{\"tolerations\": {}}",
        "{\"tolerations\": [[]]}",
        "{\"tolerations\": [{\"tolerationSeconds\": 1.5}]}",
        "{\"podMetadata\": {\"labels\": []}}",
        "{\"podMetadata\": {\"other\": {}}}",
        "5"
      })
  void whatItsOwnerWroteForAStopDoesNotPreventIt(String before) throws Exception {
    ObjectNode running = started(HELD);
    running.withObject("/metadata/annotations").put("sluice.dev/pods-before-start", before);
    ObjectNode stopped = stopped(KIND, running, Optional.empty());
    ObjectNode spec = stopped.get("spec").deepCopy();
    assertThat(spec.remove("suspend").asBoolean()).isTrue();
    assertThat(spec).isEqualTo(running.get("spec"));
  }

  @Test
  void aSuspensionByPeopleIsNotTouched() throws Exception {
    ObjectNode paused = with(started(HELD), "{spec: {suspend: true}}");
    assertThat(KIND.state(paused).suspended()).isFalse();
    ObjectNode held = with(HELD, "{spec: {suspend: true}}");
    assertThat(KIND.state(held).suspended()).isTrue();
    assertThat(started(held).at("/spec/suspend").asBoolean()).isTrue();
  }

  @Test
  void aStartFailsWhereTheWorkflowSaysSomethingElse() {
    ObjectNode other = with(HELD, "{spec: {nodeSelector: {pool: own}}}");
    assertThatThrownBy(() -> started(other)).isInstanceOf(StartConflictException.class);
    PodSetInfo gated =
        new PodSetInfo("main", 1, Map.of(), Map.of(), Map.of(), List.of(), List.of("gate"));
    assertThatThrownBy(() -> KIND.start(HELD, List.of(gated)))
        .isInstanceOf(StartConflictException.class)
        .hasMessageContaining("scheduling gates");
  }

  @ParameterizedTest
  @CsvSource({"Succeeded, true", "Failed, false", "Error, false"})
  void itsEnd(String phase, boolean succeeded) {
    assertThat(KIND.state(status(SUBMITTED, "{phase: " + phase + ", message: m}")).end())
        .contains(new JobState.End(succeeded, "m"));
  }

  /** Nodes of large Workflows are compressed, or in a database. */
  @Test
  void aWorkflowWhoseNodesAreHiddenMayHavePodsUntilItsEnd() {
    for (String hidden : List.of("compressedNodes", "offloadNodeStatusVersion")) {
      ObjectNode object = status(SUBMITTED, "{phase: Running, " + hidden + ": x}");
      assertThat(KIND.state(object).active()).isTrue();
      assertThat(KIND.state(with(object, "{status: {phase: Failed}}")).active()).isFalse();
    }
  }

  @Test
  void onePodSetRequestsWhatTheAnnotationSaysOrAllPodsAtATime() {
    PodSetTemplate whole = KIND.podSets(SUBMITTED).getFirst();
    assertThat(whole.name() + "=" + whole.count()).isEqualTo("main=1");
    assertThat(whole.template())
        .isEqualTo(
            yaml(
                """
                metadata: {labels: {a: b}}
                spec:
                  nodeSelector: {disk: fast}
                  priorityClassName: high
                  containers: [{name: main, resources: {requests: {cpu: "1"}}}]
                """));
    ObjectNode said =
        with(
            SUBMITTED,
            "{metadata: {annotations: {kube-queue/min-resources: 'cpu: 9', "
                + "koord-queue/min-resources: '{\"cpu\": 3, \"nvidia.com/gpu\": \"2\"}'}}}");
    assertThat(KIND.podSets(said).getFirst().template().at("/spec/containers/0/resources/requests"))
        .isEqualTo(yaml("{cpu: '3', nvidia.com/gpu: '2'}"));
    assertThat(KIND.state(said).handling().hold()).isEmpty();
  }

  /** Argo puts in the values when it makes the pods; no label may have such a value before. */
  @Test
  void aWorkloadHasNoMetadataThatArgoFillsInAndTheWorkflowKeepsIt() throws Exception {
    ObjectNode given =
        with(
            HELD,
            """
            spec:
              podMetadata:
                labels: {team: "{{workflow.parameters.team}}", "{{=inputs.key}}": c}
                annotations: {note: "by {{workflow.name}}", plain: kept}
            """);

    assertThat(KIND.podSets(given).getFirst().template().path("metadata"))
        .isEqualTo(yaml("{labels: {a: b}, annotations: {plain: kept}}"));
    ObjectNode started = started(given);
    assertThat(KIND.podSets(started)).isEqualTo(KIND.podSets(given));
    assertThat(started.at("/spec/podMetadata/labels"))
        .isEqualTo(
            yaml(
                """
                a: b
                team: "{{workflow.parameters.team}}"
                "{{=inputs.key}}": c
                kueue.x-k8s.io/podset: main
                """));
    assertThat(stopped(KIND, started, Optional.empty()).at("/spec/podMetadata"))
        .isEqualTo(given.at("/spec/podMetadata"));
  }

  @ParameterizedTest
  @CsvSource({"'cpu: many'", "'cpu: -1'", "'[1]'", "'{'", "'{}'"})
  void anAnnotationThatSaysNothingHoldsTheWorkflow(String text) {
    ObjectNode said = with(SUBMITTED, "{metadata: {annotations: {}}}");
    ((ObjectNode) said.at("/metadata/annotations")).put("kube-queue/min-resources", text);
    assertThat(KIND.state(said).handling().hold())
        .get()
        .asString()
        .startsWith("What the Workflow requests is not known: ");
  }
}
