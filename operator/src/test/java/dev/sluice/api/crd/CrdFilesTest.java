package dev.sluice.api.crd;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.BadManifests;
import dev.sluice.api.BadManifests.Needs;
import dev.sluice.api.BadManifests.Row;
import dev.sluice.api.conversion.HubConverter;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The schemas of the definitions, in every version that is served, accept full objects and reject
 * the manifests of the table. {@code SchemaConstraintsIT} and {@code BadManifestsIT} ask the API
 * server the same.
 */
class CrdFilesTest {

  private static final BadManifests TABLE = BadManifests.read();
  private static final List<ObjectNode> DEFINITIONS = new CrdFiles().definitions();

  /** A version of a definition. */
  record Version(JsonNode definition, JsonNode version) {

    String kind() {
      return definition.at("/spec/names/kind").asText();
    }

    String name() {
      return version.path("name").asText();
    }

    String apiVersion() {
      return definition.at("/spec/group").asText() + "/" + name();
    }

    JsonNode schema() {
      return version.at("/schema/openAPIV3Schema");
    }

    boolean isOf(JsonNode object) {
      return object.path("kind").asText().equals(kind());
    }

    @Override
    public String toString() {
      return kind() + " " + name();
    }
  }

  static Stream<Version> versions() {
    return DEFINITIONS.stream()
        .flatMap(
            definition ->
                definition
                    .at("/spec/versions")
                    .valueStream()
                    .map(version -> new Version(definition, version)));
  }

  @ParameterizedTest
  @MethodSource("versions")
  void everyVersionIsServedAndOneIsStored(Version version) {
    assertThat(version.version().path("served").asBoolean()).isTrue();
    assertThat(version.version().path("storage").asBoolean())
        .isEqualTo(version.name().equals("v1beta2") || version.name().equals("v1alpha1"));
  }

  /** The API server answers with the field {@code <nil>} where a rule of the top names none. */
  @ParameterizedTest
  @MethodSource("versions")
  void everyRuleOfTheTopNamesAField(Version version) {
    for (JsonNode rule : version.schema().path("x-kubernetes-validations")) {
      assertThat(rule.path("fieldPath").asText()).as("%s", rule).matches("\\.(spec|status)\\..+");
    }
  }

  @ParameterizedTest
  @MethodSource("versions")
  void fullObjectsAreAccepted(Version version) throws IOException {
    List<ObjectNode> objects = fullObjects().stream().filter(version::isOf).toList();

    assertThat(objects).isNotEmpty();
    for (ObjectNode object : objects) {
      ObjectNode converted = converted(object, version);
      assertThat(SchemaValidator.problems(version.schema(), converted)).as("%s", object).isEmpty();
      assertThat(SchemaValidator.unknownFields(version.schema(), converted)).isEmpty();
    }
  }

  static Stream<Row> rows() {
    return TABLE.rows().stream()
        .filter(row -> TABLE.base(row).object().at("/apiVersion").asText().startsWith("kueue"));
  }

  @ParameterizedTest
  @MethodSource("rows")
  void goodObjectsAndGoodNeighboursAreAccepted(Row row) {
    ObjectNode base = before(row);
    Version version = version(base);

    assertThat(SchemaValidator.problems(version.schema(), base)).isEmpty();
    assertThat(
            SchemaValidator.problems(version.schema(), BadManifests.changed(base, row.neighbour())))
        .isEmpty();
  }

  static Stream<Row> rejectedBySchema() {
    return rows().filter(row -> row.requirement() == Needs.SCHEMA);
  }

  @ParameterizedTest
  @MethodSource("rejectedBySchema")
  void badManifestsAreRejectedOrLeftToAnExpression(Row row) {
    ObjectNode bad = BadManifests.changed(before(row), row.set());
    JsonNode schema = version(bad).schema();
    boolean byName = row.set().containsKey("/metadata/name");
    boolean byExpression = row.set().keySet().stream().anyMatch(at -> hasExpression(schema, at));

    assertThat(byName || byExpression || !SchemaValidator.problems(schema, bad).isEmpty())
        .as("%s", bad)
        .isTrue();
  }

  /** Whether the field at a pointer, or an object that it is part of, has rules as expressions. */
  private static boolean hasExpression(JsonNode schema, String pointer) {
    JsonNode at = schema;
    boolean found = at.has("x-kubernetes-validations");
    for (String step : pointer.substring(1).split("/", -1)) {
      JsonNode property = at.path("properties").path(step);
      at = property.isMissingNode() ? at.path("items") : property;
      found |= at.has("x-kubernetes-validations");
    }
    return found;
  }

  /** As the API has it: who reads an object without a typed client gets the number, too. */
  @ParameterizedTest
  @MethodSource("versions")
  void theDefaultOfAWeightIsANumber(Version version) {
    JsonNode fairSharing = version.schema().at("/properties/spec/properties/fairSharing");

    assertThat(fairSharing.at("/properties/weight/default").toString()).isIn("", "1");
  }

  @ParameterizedTest
  @MethodSource("versions")
  void columnsAndSelectableFieldsAreFieldsOfTheSchema(Version version) {
    Stream.concat(
            version.version().path("additionalPrinterColumns").valueStream(),
            version.version().path("selectableFields").valueStream())
        .map(each -> each.path("jsonPath").asText())
        .filter(path -> !path.startsWith(".metadata."))
        .forEach(
            path -> {
              String pointer =
                  path.replaceAll("\\[[^]]*\\]", "/items").replace(".", "/properties/");
              assertThat(version.schema().at(pointer).isMissingNode()).as(path).isFalse();
            });
  }

  /** The good object that a row changes. */
  private static ObjectNode before(Row row) {
    Map<String, JsonNode> given = row.given() == null ? Map.of() : row.given();
    ObjectNode object = BadManifests.changed(TABLE.base(row).object(), given);
    TABLE.statuses(row).forEach(status -> object.set("status", status));
    return object;
  }

  private static Version version(JsonNode object) {
    return versions()
        .filter(each -> each.isOf(object))
        .filter(each -> each.apiVersion().equals(object.path("apiVersion").asText()))
        .findFirst()
        .orElseThrow();
  }

  private static ObjectNode converted(ObjectNode object, Version version) {
    ObjectNode copy = object.deepCopy();
    if (version.definition().at("/spec/conversion/strategy").asText().equals("Webhook")) {
      return new HubConverter().convert(copy, version.apiVersion());
    }
    if (version.kind().equals("MultiKueueConfig") && !version.name().equals("v1beta2")) {
      // There is no conversion for this kind: the older version loses this field.
      copy.withObject("/spec").remove("quotaManagement");
    }
    return copy.put("apiVersion", version.apiVersion());
  }

  private static final String BUDGET =
      """
      apiVersion: sluice.dev/v1alpha1
      kind: Budget
      metadata: {name: full}
      spec:
        scope: {cohort: research}
        limits: [{resource: cpu, hours: "1k", flavors: [spot]}]
        period: Weekly
        timeZone: Europe/Berlin
        carryOver: {upTo: "0.5"}
        action: HoldAndDrain
        charge: AsUsed
        notify: ["0.8"]
      """;

  private static final String PROVIDER =
      """
      apiVersion: kueue.x-k8s.io/v1alpha1
      kind: CapacityProvider
      metadata: {name: full}
      spec:
        controllerName: example.com/any
        orchestratedFlavors: [{name: spot}]
        parameters: {apiGroup: example.com, kind: Settings, name: any}
      status:
        capacity: {flavors: [{name: spot, resources: {cpu: "3", memory: 1Gi}}]}
        conditions: [{type: CapacitySynchronized, status: "True", reason: Synchronized, message: m,
          observedGeneration: 1, lastTransitionTime: "2026-01-01T00:00:00Z"}]
      """;

  private static final String ORCHESTRATOR =
      """
      apiVersion: kueue.x-k8s.io/v1alpha1
      kind: DynamicQuotaOrchestrator
      metadata: {name: full}
      spec:
        capacityDiscovery: {providers: [{name: full, effectiveCapacityMultiplier: "0.5"}]}
        capacityDistribution: {subtreeRootQuotaRef: {kind: Cohort, name: root}}
      status:
        effectiveCapacity: {flavors: [{name: spot, resources: {cpu: "3", memory: 1Gi}}]}
        conditions: [{type: Distributed, status: "True", reason: QuotasDistributed, message: m,
          observedGeneration: 1, lastTransitionTime: "2026-01-01T00:00:00Z"}]
      """;

  private static final String PREEMPTION_CONFIG =
      """
      apiVersion: kueue.x-k8s.io/v1alpha1
      kind: PreemptionConfig
      metadata: {name: full}
      spec:
        rules:
        - name: heroes
          preemptorSelector: {matchLabels: {a: b}}
          preemptorPriorityClassSelector: {matchNames: [hero], notMatchNames: [low]}
          activationPolicy: {trigger: QuotaFeasibleAndInsufficientTopology}
          candidateSelectors:
          - scope: WithinParentCohort
            clusterQueueSelector: {matchExpressions: [{key: a, operator: In, values: [b]}]}
            labelSelector: {matchExpressions: [{key: a, operator: Exists}]}
            numericLabels:
            - {key: rank, fallbackValue: -1, comparison: GreaterThan, minValue: 0, maxValue: 9}
            priority:
              mode: Base
              comparison: LessThanOrEqual
              matchNames: [low]
              notMatchNames: [hero]
      """;

  private static final String RESERVATION =
      """
      apiVersion: sluice.dev/v1alpha1
      kind: CapacityReservation
      metadata: {name: full}
      spec:
        clusterQueue: research
        capacity: [{flavor: spot, resource: cpu, amount: "1k"}]
        schedule:
          timeZone: Europe/Berlin
          times: [{days: [Monday, Sunday], from: "22:00", to: "24:00"}]
        users:
          localQueues: [{namespace: course, name: students}]
          priorityClasses: [urgent]
        lend: true
      """;

  private static final String WINDOW =
      """
      apiVersion: sluice.dev/v1alpha1
      kind: MaintenanceWindow
      metadata: {name: full}
      spec:
        flavors: [spot]
        start: "2026-12-01T08:00:00Z"
        end: "2026-12-01T18:00:00Z"
      """;

  private static final String JOB_KIND =
      """
      apiVersion: sluice.dev/v1alpha1
      kind: JobKind
      metadata: {name: flows.example.org}
      spec:
        version: v1
        kind: Flow
        suspendField: .spec.suspend
        managedByField: .spec.managedBy
        podSets:
        - {name: main, template: .spec.template, count: .spec.replicas}
        - {forEach: .spec.workers, nameField: .role, template: .template}
        status:
          running: [{field: .status.active}]
          ready: [{condition: Ready}]
          succeeded: [{condition: Complete}]
          failed: [{field: .status.phase, values: [Failed]}]
          messageField: .status.message
      """;

  private static List<ObjectNode> fullObjects() throws IOException {
    try (InputStream in = BadManifests.class.getResourceAsStream("full-objects.yaml")) {
      YAMLMapper yaml = new YAMLMapper();
      List<ObjectNode> objects =
          new ArrayList<>(
              yaml.readerForListOf(ObjectNode.class)
                  .<List<ObjectNode>>readValue(Objects.requireNonNull(in, "full-objects.yaml")));
      for (String text :
          List.of(
              BUDGET, PROVIDER, ORCHESTRATOR, PREEMPTION_CONFIG, RESERVATION, WINDOW, JOB_KIND)) {
        objects.add(yaml.readValue(text, ObjectNode.class));
      }
      return objects;
    }
  }
}
