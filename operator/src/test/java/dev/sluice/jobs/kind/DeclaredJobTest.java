package dev.sluice.jobs.kind;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.sluice.JobKindReader;
import dev.sluice.kube.json.JsonMergePatch;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DeclaredJobTest {

  private static final YAMLMapper YAML = new YAMLMapper();

  private static final String DECLARATION =
      """
      version: v1
      kind: Flow
      podLabel: example.org/flow-name
      podSets:
      - {name: driver, template: .spec.driver.template}
      - {forEach: .spec.workers, nameField: .role, template: .template, count: .replicas,
         indexLabel: example.org/replica-index}
      - {forEach: .spec.helpers, template: .template}
      status:
        running: [{field: .status.active}]
        ready: [{condition: Ready}]
        succeeded: [{condition: Complete}]
        failed: [{field: .status.phase, values: [Failed, Aborted]}]
        messageField: .status.message
      """;

  private static final String FLOW =
      """
      apiVersion: example.org/v1
      kind: Flow
      metadata: {name: flow, namespace: team}
      spec:
        suspend: true
        driver:
          template: {spec: {containers: [{name: main, image: none}]}}
        workers:
        - role: Learner
          replicas: 3
          template: {spec: {containers: [{name: main, image: none}]}}
        helpers:
          cache:
            template: {metadata: {labels: {a: b}}, spec: {containers: []}}
      """;

  private final DeclaredJob flows;

  DeclaredJobTest() throws Exception {
    flows =
        new DeclaredJob(
            JobKindReader.read("flows.example.org", YAML.readTree(DECLARATION))
                .declaration()
                .orElseThrow());
  }

  private static ObjectNode flow(String before, String after) throws Exception {
    String text = FLOW.replace(before, after);
    assertThat(text).isNotEqualTo(FLOW);
    return (ObjectNode) YAML.readTree(text);
  }

  private static ObjectNode flow() throws Exception {
    return (ObjectNode) YAML.readTree(FLOW);
  }

  @Test
  void podSetsAreThoseOfFieldsListsAndMaps() throws Exception {
    assertThat(flows.podSets(flow()))
        .extracting(PodSetTemplate::name, PodSetTemplate::count)
        .containsExactly(tuple("driver", 1), tuple("learner", 3), tuple("cache", 1));
    assertThat(flows.validate(flow(), false)).isEmpty();
  }

  @Test
  void podsThatHaveAnIndexAreRankedWhereATopologyIsAskedFor() throws Exception {
    assertThat(flows.podSets(flow())).allSatisfy(it -> assertThat(it.topologyRequest()).isEmpty());
    String asking =
        "template: {metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}},"
            + " spec: {";
    List<PodSetTemplate> podSets =
        flows.podSets((ObjectNode) YAML.readTree(FLOW.replace("template: {spec: {", asking)));
    assertThat(podSets.get(0).topologyRequest().orElseThrow().toString())
        .isEqualTo("{\"required\":\"rack\"}");
    assertThat(podSets.get(1).topologyRequest().orElseThrow().path("podIndexLabel").asText())
        .isEqualTo("example.org/replica-index");
  }

  @Test
  void jobsWhosePodsNameThemCanBeElastic() throws Exception {
    assertThat(flows.canBeElastic()).isTrue();
    assertThat(flows.podSelector(flow())).contains("example.org/flow-name=flow");
    assertThat(flows.elasticTemplates(flow()))
        .extracting(Object::toString)
        .containsExactly("/spec/workers/0/template", "/spec/helpers/cache/template");
    assertThat(flows.keepsSize("driver")).isTrue();
    assertThat(flows.keepsSize("learner")).isFalse();

    ObjectNode longName = flow("name: flow", "name: " + "f".repeat(64));
    assertThat(flows.validate(longName, true))
        .extracting(InvalidField::path)
        .containsExactly("metadata.name");
    assertThat(flows.validate(longName, false)).isEmpty();
    assertThat(flows.podSelector(longName)).isEmpty();
    DeclaredJob others =
        new DeclaredJob(
            JobKindReader.read(
                    "flows.example.org",
                    YAML.readTree(DECLARATION.replace("podLabel: example.org/flow-name\n", "")))
                .declaration()
                .orElseThrow());
    assertThat(others.canBeElastic()).isFalse();
    assertThat(others.podSelector(flow())).isEmpty();
    assertThat(others.elasticTemplates(flow())).isEmpty();
  }

  @Test
  void aStopGivesBackTheObjectAsItWas() throws Exception {
    ObjectNode object = flow();
    List<PodSetTemplate> original = flows.podSets(object);
    List<JobPatch> patches =
        flows.start(
            object,
            original.stream()
                .map(
                    podSet ->
                        new PodSetInfo(
                            podSet.name(),
                            podSet.count(),
                            Map.of("kueue.x-k8s.io/podset", podSet.name()),
                            Map.of(),
                            Map.of("pool", "a"),
                            List.of(),
                            List.of()))
                .toList());
    assertThat(patches).hasSize(1);
    ObjectNode started = JsonMergePatch.applied(object, patches.getFirst().body());
    assertThat(started.at("/spec/suspend").asBoolean()).isFalse();
    assertThat(started.at("/spec/workers/0/template/spec/nodeSelector/pool").asText())
        .isEqualTo("a");
    assertThat(started.at("/spec/helpers/cache/template/spec/nodeSelector/pool").asText())
        .isEqualTo("a");

    JobPatch stop = flows.nextStopStep(started, Optional.of(original)).orElseThrow();
    JsonNode stopped = JsonMergePatch.applied(started, stop.body());
    assertThat(stopped).isEqualTo(object);
    assertThat(flows.nextStopStep(stopped, Optional.of(original))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "role: Learner | role: driver | spec.workers[0].template",
        "role: Learner | role: A_b | spec.workers[0].template",
        "replicas: 3 | replicas: -1 | spec.workers[0].replicas",
        "replicas: 3 | replicas: three | spec.workers[0].replicas",
        "replicas: 3 | replicas: 2.5 | spec.workers[0].replicas",
        "replicas: 3 | replicas: 3000000000 | spec.workers[0].replicas",
        "driver: | leader: | spec.driver.template",
      })
  void whatCannotBeCountedIsRefusedAndHeld(String before, String after, String path)
      throws Exception {
    ObjectNode object = flow(before, after);
    assertThat(flows.validate(object, false)).extracting(InvalidField::path).containsExactly(path);
    assertThat(flows.state(object).handling().hold()).isPresent();
  }

  @Test
  void aListThatIsATextIsRefused() throws Exception {
    ObjectNode object = flow();
    ((ObjectNode) object.get("spec")).put("workers", "many");
    assertThat(flows.validate(object, false))
        .extracting(InvalidField::path)
        .containsExactly("spec.workers");
  }

  @Test
  void tooManyPodSetsAreRefused() throws Exception {
    ObjectNode object = flow();
    ObjectNode helpers = (ObjectNode) object.at("/spec/helpers");
    for (int i = 0; i < 30; i++) {
      helpers.set("helper-" + i, helpers.get("cache"));
    }
    assertThat(flows.validate(object, false)).extracting(InvalidField::path).contains("spec");
  }

  @Test
  void theStateIsReadFromItsSigns() throws Exception {
    JobState held = flows.state(flow());
    assertThat(held.suspended()).isTrue();
    assertThat(held.active()).isFalse();
    assertThat(held.end()).isEmpty();
    JobState running =
        flows.state(
            flow(
                "spec:\n",
                "status: {active: 2, conditions: [{type: Ready, status: \"True\"}]}\nspec:\n"));
    assertThat(running.active()).isTrue();
    assertThat(running.podsReady()).isTrue();
    assertThat(
            flows
                .state(flow("spec:\n", "status: {phase: Aborted, message: by hand}\nspec:\n"))
                .end())
        .contains(new JobState.End(false, "by hand"));
    assertThat(
            flows
                .state(
                    flow(
                        "spec:\n",
                        "status: {conditions: [{type: Complete, status: \"True\", message: done}]}\nspec:\n"))
                .end())
        .contains(new JobState.End(true, "done"));
  }
}
