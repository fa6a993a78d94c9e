package dev.sluice.jobs.kinds.argo;

import static dev.sluice.jobs.GivenObject.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the pods of a Workflow request at most at a time. */
class WorkflowRequestsTest {

  /** A pod of 1 CPU, one of 2 with a limit of memory, and one that requests nothing. */
  private static ObjectNode workflow(String template) {
    ObjectNode workflow =
        yaml(
            """
            spec:
              entrypoint: main
              templates:
              - {name: one, container: {resources: {requests: {cpu: 1}}}}
              - {name: two, script: {resources: {requests: {cpu: 2}, limits: {cpu: 8, memory: 1Ki}}}}
              - {name: hold, suspend: {}}
              - {name: again, steps: [[{template: one}], [{template: again}]]}
              - {name: pair, steps: [[{template: one}, {template: one}]]}
            """);
    ObjectNode main = yaml(template);
    ((ArrayNode) workflow.at("/spec/templates")).add(main.put("name", "main"));
    return workflow;
  }

  private static String requested(ObjectNode workflow) {
    WorkflowRequests requests = WorkflowRequests.of(workflow);
    return requests.unknown().orElseGet(() -> requests.quantities().toString().replace("\"", ""));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      value = {
        // steps follow each other, and those of a group run side by side
        "steps: [[{template: hold}], [{template: one}], [{template: two}]] ~ {cpu:2,memory:1Ki}",
        "steps: [[{template: one}, {template: one}], [{template: two}]] ~ {cpu:2,memory:1Ki}",
        "steps: [[{template: one}, {template: two}], [{template: one}]] ~ {cpu:3,memory:1Ki}",
        "steps: [[{template: pair}, {template: pair}]] ~ {cpu:4}",
        "steps: [[{inline: {container: {resources: {requests: {cpu: 5}}}}}]] ~ {cpu:5}",
        // loops
        "steps: [[{template: one, withItems: [a, b, c]}]] ~ {cpu:3}",
        "steps: [[{template: one, withSequence: {count: '4'}}]] ~ {cpu:4}",
        "steps: [[{template: one, withSequence: {start: '2', end: '4'}}]] ~ {cpu:3}",
        "steps: [[{template: one, withItems: [a, b, c]}]], parallelism: 2 ~ {cpu:2}",
        "steps: [[{template: one, withParam: x}]], parallelism: 2 ~ {cpu:2}",
        // a template's own limit doesn't count the pods of templates below
        "steps: [[{template: pair, withItems: [a, b]}]], parallelism: 1 ~ {cpu:4}",
        // hooks run beside their step
        "steps: [[{template: one, hooks: {running: {template: two}}}]] ~ {cpu:3,memory:1Ki}",
        // and so does what runs when a step or a task has ended
        "steps: [[{template: one, onExit: two}]] ~ {cpu:3,memory:1Ki}",
        "steps: [[{template: one, onExit: two, withItems: [a, b]}]] ~ {cpu:6,memory:2Ki}",
        "dag: {tasks: [{name: a, template: one, onExit: one}]} ~ {cpu:2}",
        // patches that change no amount
        "container: {image: i}, podSpecPatch: '{\"containers\":[{\"name\":\"main\",\"image\":\"j\"}]}' ~ {}",
        // DAGs
        "dag: {tasks: [{name: a, template: one}, {name: b, template: one}]} ~ {cpu:2}",
        "dag: {tasks: [{name: a, template: one}, {name: b, template: two, dependencies: [a]},"
            + " {name: c, template: one, depends: b.Succeeded}]} ~ {cpu:2,memory:1Ki}",
        "dag: {tasks: [{name: a, template: one}, {name: b, template: one, dependencies: [a]},"
            + " {name: c, template: one, depends: a}, {name: d, template: two, depends: 'b &&"
            + " c'}]} ~ {cpu:2,memory:1Ki}",
        "dag: {tasks: [{name: a, template: one}, {name: b, template: one}, {name: c, template: one,"
            + " depends: 'a || b'}]} ~ {cpu:3}",
        // a pod with all its containers
        "container: {resources: {requests: {cpu: 1}}}, sidecars: [{resources: {limits: {cpu: 2}}}],"
            + " initContainers: [{resources: {requests: {cpu: 7}}}] ~ {cpu:7}",
        "containerSet: {containers: [{resources: {requests: {cpu: 1}}}, {resources: {requests:"
            + " {cpu: 1}}}]} ~ {cpu:2}",
        "container: {image: i} ~ {}",
        "resource: {action: create} ~ {}",
      })
  void theMostAtATime(String template, String requested) {
    assertThat(requested(workflow("{" + template + "}"))).isEqualTo(requested);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "steps: [[{template: one, withParam: x}]] | no limit",
        "steps: [[{template: one, withItems: '{{x}}'}]] | no limit",
        "steps: [[{template: one, withSequence: {count: '{{x}}'}}]] | no limit",
        "steps: [[{template: again}]] | no limit",
        "steps: [[{templateRef: {name: a, template: b}}]] | templates of other objects",
        "steps: [[{template: absent}]] | no template \"absent\"",
        "container: {resources: {requests: {cpu: '{{x}}'}}} | no quantity",
        "container: {}, podSpecPatch: 'containers: [{resources: {}}]' | podSpecPatch changes",
        "container: {}, podSpecPatch: '{\"containers\":[{\"res\\u006furces\":{}}]}' | podSpecPatch changes",
        "container: {}, podSpecPatch: 'containers: [{Resources: {}}]' | podSpecPatch changes",
        "container: {}, podSpecPatch: 'overhead: {cpu: 100}' | podSpecPatch changes overhead",
        "container: {}, podSpecPatch: '{{workflow.parameters.p}}' | podSpecPatch can't be read",
        "container: {}, podSpecPatch: 'containers: [{? *a : {}}]' | podSpecPatch can't be read",
        "container: {}, podSpecPatch: '[' | podSpecPatch can't be read",
        "steps: [[{template: one, onExit: absent}]] | no template \"absent\"",
      })
  void whatTheTemplatesDoNotTell(String template, String why) {
    assertThat(requested(workflow("{" + template + "}")))
        .startsWith("What the Workflow requests is not known: ")
        .contains(why)
        .endsWith("; annotation kube-queue/min-resources can say it");
  }

  @Test
  void theLimitOfTheWhole() {
    ObjectNode endless = workflow("{steps: [[{template: again}, {template: two}]]}");
    ((ObjectNode) endless.get("spec")).put("parallelism", 3);
    assertThat(requested(endless)).isEqualTo("{cpu:6,memory:3Ki}");
    ObjectNode large = workflow("{steps: [[{template: one, withItems: [a, b, c, d]}]]}");
    ((ObjectNode) large.get("spec")).put("parallelism", 3);
    assertThat(requested(large)).isEqualTo("{cpu:3}");
    ((ObjectNode) large.get("spec")).put("onExit", "main");
    assertThat(requested(large)).isEqualTo("{cpu:3}");
  }

  @Test
  void podsThatOutliveTheirStep() {
    ObjectNode workflow = workflow("{steps: [[{template: one}], [{template: one}]]}");
    ((ObjectNode) workflow.at("/spec/templates/0")).put("daemon", true);
    assertThat(requested(workflow)).isEqualTo("{cpu:2}");
  }

  @Test
  void defaultsOfTemplates() {
    ObjectNode workflow = workflow("{container: {image: i}}");
    ((ObjectNode) workflow.get("spec"))
        .set("templateDefaults", yaml("{container: {resources: {requests: {cpu: 3}}}}"));
    assertThat(requested(workflow)).isEqualTo("{cpu:3}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{sidecars: [{name: s, resources: {requests: {cpu: 9}}}]} | {cpu:9}",
        "{initContainers: [{name: s, resources: {requests: {cpu: 9}}}]} | {cpu:9}",
        "{podSpecPatch: 'overhead: {cpu: 9}'} | podSpecPatch changes overhead",
      })
  void defaultsOfTemplatesAddContainers(String defaults, String requested) {
    ObjectNode workflow = workflow("{container: {image: i}}");
    ((ObjectNode) workflow.get("spec")).set("templateDefaults", yaml(defaults));
    assertThat(requested(workflow)).contains(requested);
  }

  @Test
  void containersThatDefaultsNameAreMergedByName() {
    ObjectNode workflow =
        workflow(
            "{container: {image: i}, sidecars: [{name: s, image: i}, {name: t, resources:"
                + " {requests: {cpu: 1}}}]}");
    ((ObjectNode) workflow.get("spec"))
        .set(
            "templateDefaults",
            yaml(
                "{sidecars: [{name: s, resources: {requests: {cpu: 4}}}, {name: t, resources:"
                    + " {requests: {cpu: 8}}}]}"));
    assertThat(requested(workflow)).isEqualTo("{cpu:5}");
  }

  @Test
  void podsThatOutliveTheirStepByDefault() {
    ObjectNode workflow = workflow("{steps: [[{template: one}], [{template: one}]]}");
    ((ObjectNode) workflow.get("spec")).set("templateDefaults", yaml("{daemon: true}"));
    assertThat(requested(workflow)).isEqualTo("{cpu:2}");
  }

  @Test
  void aWorkflowTemplateThatTheControllerHasRead() {
    ObjectNode workflow = yaml("{spec: {workflowTemplateRef: {name: t}}}");
    assertThat(requested(workflow)).contains("WorkflowTemplate was not read");
    workflow
        .putObject("status")
        .set("storedWorkflowTemplateSpec", workflow("{steps: [[{template: one}]]}").get("spec"));
    assertThat(requested(workflow)).isEqualTo("{cpu:1}");
  }

  @Test
  void templatesThatCallEachOtherDeeply() {
    StringBuilder text = new StringBuilder("{spec: {entrypoint: t0, templates: [");
    for (int i = 0; i < 20_000; i++) {
      text.append("{name: t%d, steps: [[{template: t%d}]]}, ".formatted(i, i + 1));
    }
    assertThat(requested(yaml(text + "{name: t20000, container: {}}]}}"))).contains("too deeply");
  }
}
