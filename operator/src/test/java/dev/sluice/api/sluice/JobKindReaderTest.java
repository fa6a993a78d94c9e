package dev.sluice.api.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.config.DeclaredJobKind;
import dev.sluice.api.config.DeclaredJobKind.PodSets;
import dev.sluice.api.config.DeclaredJobKind.Sign;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JobKindReaderTest {

  private static final YAMLMapper YAML = new YAMLMapper();
  private static final String NAME = "flows.example.org";

  private static final String FULL =
      """
      version: v1
      kind: Flow
      suspendField: .spec.hold
      managedByField: .spec.managedBy
      podLabel: example.org/flow-name
      podSets:
      - {name: driver, template: .spec.driver.template}
      - {forEach: .spec.workers, nameField: .role, template: .template, count: .replicas,
         indexLabel: replica-index}
      status:
        running: [{field: .status.active}]
        succeeded: [{condition: Complete}]
        failed: [{field: .status.phase, values: [Failed, Aborted]}]
        messageField: .status.message
      """;

  private static JobKindReader.Reading read(String text) throws Exception {
    return JobKindReader.read(NAME, YAML.readTree(text));
  }

  @Test
  void aWholeDeclarationIsUnderstood() throws Exception {
    JobKindReader.Reading reading = read(FULL);
    assertThat(reading.faults()).isEmpty();
    DeclaredJobKind declaration = reading.declaration().orElseThrow();
    assertThat(declaration.group()).isEqualTo("example.org");
    assertThat(declaration.plural()).isEqualTo("flows");
    assertThat(declaration.framework()).isEqualTo("example.org/flow");
    assertThat(declaration.suspendField()).containsExactly("spec", "hold");
    assertThat(declaration.managedByField()).containsExactly("spec", "managedBy");
    assertThat(declaration.podSets())
        .containsExactly(
            new PodSets(
                "driver",
                List.of(),
                List.of(),
                List.of("spec", "driver", "template"),
                List.of(),
                ""),
            new PodSets(
                "",
                List.of("spec", "workers"),
                List.of("role"),
                List.of("template"),
                List.of("replicas"),
                "replica-index"));
    assertThat(declaration.podLabel()).isEqualTo("example.org/flow-name");
    assertThat(declaration.status().failed())
        .containsExactly(new Sign("", List.of("status", "phase"), List.of("Failed", "Aborted")));
    assertThat(declaration.status().ready()).isEqualTo(declaration.status().running());
    assertThat(declaration.status().messageField()).containsExactly("status", "message");
  }

  @Test
  void jobsAreSuspendedByTheUsualField() throws Exception {
    assertThat(
            read(FULL.replace("suspendField: .spec.hold\n", ""))
                .declaration()
                .orElseThrow()
                .suspendField())
        .containsExactly("spec", "suspend");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "version: v1 | version: V1 | spec.version",
        "kind: Flow | kind: flow | spec.kind",
        ".spec.hold | spec.hold | spec.suspendField",
        ".spec.managedBy | .spec..managedBy | spec.managedByField",
        "name: driver | name: Driver_ | spec.podSets[0].name",
        "name: driver, | '' | spec.podSets[0]",
        ".spec.driver.template | .spec.list/0 | spec.podSets[0].template",
        "name: driver | nameField: .x, name: driver | spec.podSets[0].nameField",
        "flow-name | 'flow name' | spec.podLabel",
        "podLabel: example.org/flow-name | podLabel: 'a/b/c' | spec.podLabel",
        "podLabel: example.org/flow-name | podLabel: '' | spec.podLabel",
        "replica-index | 'replica-' | spec.podSets[1].indexLabel",
        "replica-index | 'replica/' | spec.podSets[1].indexLabel",
        "count: .replicas | count: 3 | spec.podSets[1].count",
        "'[{field: .status.active}]' | '[]' | spec.status.running",
        "'{condition: Complete}' | '{}' | spec.status.succeeded[0]",
        "'{condition: Complete}' | '{condition: Complete, values: [a]}' | spec.status.succeeded[0]",
        "'[Failed, Aborted]' | '[]' | spec.status.failed[0]",
        "'[Failed, Aborted]' | Failed | spec.status.failed[0]",
        ".status.message | . | spec.status.messageField",
      })
  void faultsNameTheField(String before, String after, String path) throws Exception {
    String text = FULL.replace(before, after == null ? "" : after);
    assertThat(text).isNotEqualTo(FULL);
    JobKindReader.Reading reading = read(text);
    assertThat(reading.declaration()).isEmpty();
    assertThat(reading.faults()).extracting(SpecFault::path).containsExactly(path);
  }

  @ParameterizedTest
  @CsvSource({
    "flows",
    "flows.example",
    "jobs.batch",
    "workloads.kueue.x-k8s.io",
    "budgets.sluice.dev",
    "Flows.example.org",
    ".example.org",
  })
  void namesOfOtherKindsAreRefused(String name) throws Exception {
    assertThat(JobKindReader.read(name, YAML.readTree(FULL)).faults())
        .extracting(SpecFault::path)
        .containsExactly("metadata.name");
  }

  @Test
  void twoPodSetsOfOneNameAreRefused() throws Exception {
    assertThat(
            read(FULL.replace(
                    "podSets:\n", "podSets:\n- {name: driver, template: .spec.template}\n"))
                .faults())
        .extracting(SpecFault::path)
        .containsExactly("spec.podSets[1].name");
  }

  @Test
  void nothingThatIsWrittenMakesItThrow() throws Exception {
    Random random = new Random(7);
    JsonNode full = YAML.readTree(FULL);
    for (int i = 0; i < 2_000; i++) {
      JsonNode spec = full.deepCopy();
      spoil(spec, random);
      JobKindReader.Reading reading = JobKindReader.read(NAME, spec);
      assertThat(reading.declaration().isPresent()).isEqualTo(reading.faults().isEmpty());
    }
  }

  private static void spoil(JsonNode node, Random random) {
    JsonNode odd =
        List.of(YAML.nullNode(), YAML.createArrayNode(), YAML.createObjectNode())
            .get(random.nextInt(3));
    if (node instanceof ObjectNode object) {
      for (String field :
          List.copyOf(object.properties().stream().map(it -> it.getKey()).toList())) {
        if (random.nextInt(6) == 0) {
          object.set(field, odd);
        } else {
          spoil(object.get(field), random);
        }
      }
    } else if (node.isArray()) {
      node.forEach(each -> spoil(each, random));
    }
  }
}
