package dev.sluice.api.crd;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.BadManifests;
import dev.sluice.api.ServedApi;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every limit, choice, expression, default and list key in the schemas of the current version is
 * kept by the API server: each is broken once, and kept at its limit. The constraints are taken
 * from the definitions, the values from objects in which every field is set; so none can be
 * forgotten.
 */
@ControlPlaneTest(exclusive = true, controllers = false)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag(BuildBreadth.NIGHTLY)
class SchemaConstraintsIT {

  private static final String VERSION = "v1beta2";

  private final YAMLMapper yaml = new YAMLMapper();
  private final Map<String, String> files = new CrdFiles().all();
  private ServedApi api;
  private String namespace;
  private List<ObjectNode> fullObjects;

  /** A definition. */
  record Definition(String kind, String plural, boolean namespaced, JsonNode schema) {
    @Override
    public String toString() {
      return kind;
    }
  }

  @BeforeAll
  void serve(TestCluster cluster) throws Exception {
    api = ServedApi.withoutAdmission(cluster.client());
    namespace = cluster.namespace();
    fullObjects = readFullObjects();
    definitions().forEach(definition -> objects(definition).forEach(o -> make(definition, o)));
  }

  @AfterAll
  void stop() {
    api.close();
  }

  Stream<Definition> definitions() throws IOException {
    List<Definition> definitions = new ArrayList<>();
    for (String text : files.values()) {
      JsonNode spec = yaml.readTree(text).path("spec");
      if (!spec.path("group").asText().equals("kueue.x-k8s.io")) {
        continue; // BudgetIT tries the kinds of our own group
      }
      Optional<JsonNode> served =
          spec.path("versions")
              .valueStream()
              .filter(version -> version.path("name").asText().equals(VERSION))
              .findFirst();
      if (served.isEmpty()) {
        continue; // DynamicQuotaIT tries the kinds that are alpha
      }
      JsonNode schema = served.get().at("/schema/openAPIV3Schema");
      definitions.add(
          new Definition(
              spec.at("/names/kind").asText(),
              spec.at("/names/plural").asText(),
              spec.path("scope").asText().equals("Namespaced"),
              schema));
    }
    return definitions.stream();
  }

  /** The columns of {@code kubectl get -o wide}, in their order. */
  @ParameterizedTest
  @CsvSource({
    "AdmissionCheck, Name Age",
    "ClusterQueue, Name Cohort Strategy Pending Workloads Admitted Workloads",
    "Cohort, Name Age",
    "LocalQueue, Name ClusterQueue Pending Workloads Admitted Workloads",
    "MultiKueueCluster, Name Connected Age",
    "MultiKueueConfig, Name Age",
    "ProvisioningRequestConfig, Name Age",
    "ResourceFlavor, Name Age",
    "Topology, Name Age",
    "Workload, Name Queue Reserved in Admitted Finished Age",
    "WorkloadPriorityClass, Name Value"
  })
  void theColumnsAreInTheirOrder(String kind, String columns, TestCluster cluster)
      throws Exception {
    Definition definition =
        definitions().filter(each -> each.kind().equals(kind)).findFirst().orElseThrow();
    KubernetesClient client = cluster.client();
    HttpRequest request =
        client
            .getHttpClient()
            .newHttpRequestBuilder()
            .uri(client.getMasterUrl().toString().replaceFirst("/$", "") + collection(definition))
            .header("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
            .build();
    String table =
        client.getHttpClient().sendAsync(request, String.class).get(30, TimeUnit.SECONDS).body();

    assertThat(
            yaml.readTree(table)
                .path("columnDefinitions")
                .valueStream()
                .map(column -> column.path("name").asText())
                .collect(Collectors.joining(" ")))
        .as(table)
        .isEqualTo(columns);
  }

  @ParameterizedTest
  @MethodSource("definitions")
  void theFullObjectsAreAcceptedWithAllTheirFields(Definition definition) {
    for (ObjectNode object : objects(definition)) {
      boolean status = object.has("status");
      String path = path(definition, object) + (status ? "/status" : "") + "?dryRun=All";
      ObjectNode answer = (ObjectNode) api.send("PUT", path, object);

      assertThat(answer.remove(List.of("metadata")))
          .isEqualTo(object.deepCopy().remove(List.of("metadata")));
    }
  }

  @ParameterizedTest
  @MethodSource("definitions")
  void everyFieldHasAValueInAFullObject(Definition definition) {
    assertThat(SchemaPlace.of(definition.schema()))
        .allSatisfy(place -> assertThat(example(definition, place)).as("%s", place).isPresent());
  }

  @ParameterizedTest
  @MethodSource("definitions")
  void everyConstraintRejectsAndAccepts(Definition definition) {
    List<String> problems = new ArrayList<>();
    for (SchemaPlace place : SchemaPlace.of(definition.schema())) {
      Example example = example(definition, place).orElseThrow();
      for (SchemaBreach breach : SchemaBreach.of(place, example.value())) {
        String path = breach.path(example.located().path());
        JsonNode answer = written(definition, place, broken(example, breach));
        if (!complains(answer, path, breach.says())) {
          problems.add("%s should be rejected: %s".formatted(breach, answer));
        }
        for (JsonNode good : breach.good()) {
          JsonNode kept = written(definition, place, example.with(good));
          if (complains(kept, path, breach.says())) {
            problems.add("%s should be accepted: %s".formatted(breach, kept));
          }
        }
      }
    }
    assertThat(problems).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("definitions")
  void everyDefaultIsFilledIn(Definition definition) {
    for (SchemaPlace place : SchemaPlace.of(definition.schema())) {
      JsonNode value = place.schema().get("default");
      if (value != null) {
        Example example = example(definition, place).orElseThrow();
        JsonNode answer = written(definition, place, example.without(""));
        JsonNode filled = answer.at(example.located().pointer());

        assertThat(filled.isMissingNode()).as("default of %s in %s", place, answer).isFalse();
        if (!value.isEmpty() || value.isValueNode()) {
          assertThat(filled).as("default of %s", place).isEqualTo(value);
        }
      }
    }
  }

  /** A value of a field, in the object it is part of. */
  record Example(ObjectNode object, SchemaPlace.Located located) {

    JsonNode value() {
      return object.at(located.pointer());
    }

    ObjectNode with(JsonNode value) {
      return BadManifests.changed(object, Map.of(located.pointer(), value));
    }

    ObjectNode without(String property) {
      String pointer = located.pointer() + (property.isEmpty() ? "" : "/" + property);
      ObjectNode copy = object.deepCopy();
      JsonPointer pointed = JsonPointer.compile(pointer);
      ((ObjectNode) copy.at(pointed.head())).remove(pointed.last().getMatchingProperty());
      return copy;
    }
  }

  private static ObjectNode broken(Example example, SchemaBreach breach) {
    String missing = breach.missing();
    return missing == null ? example.with(breach.bad()) : example.without(missing);
  }

  private Optional<Example> example(Definition definition, SchemaPlace place) {
    return objects(definition).stream()
        .flatMap(object -> place.in(object).map(at -> new Example(object, at)).stream())
        .findFirst();
  }

  private List<ObjectNode> objects(Definition definition) {
    return fullObjects.stream().filter(object -> kind(object).equals(definition.kind())).toList();
  }

  /** Writes an object, or the status of one that is there, as a trial. */
  private JsonNode written(Definition definition, SchemaPlace place, ObjectNode object) {
    if (!place.isStatus()) {
      return api.send("POST", collection(definition) + "?dryRun=All", renamed(object));
    }
    return api.send("PUT", path(definition, object) + "/status?dryRun=All", object);
  }

  private static ObjectNode renamed(ObjectNode object) {
    ObjectNode copy = object.deepCopy();
    copy.putObject("metadata").put("name", "trial");
    return copy;
  }

  /** Makes the object, as far as that writes it, and notes what the API server added to it. */
  private void make(Definition definition, ObjectNode object) {
    JsonNode made = api.send("POST", collection(definition), object);
    assertThat(kind(made)).as("%s", made).isEqualTo(definition.kind());
    object.set("metadata", made.path("metadata"));
  }

  private String collection(Definition definition) {
    String scope = definition.namespaced() ? "/namespaces/" + namespace : "";
    return "/apis/kueue.x-k8s.io/%s%s/%s".formatted(VERSION, scope, definition.plural());
  }

  private String path(Definition definition, JsonNode object) {
    return collection(definition) + "/" + object.at("/metadata/name").asText();
  }

  private static boolean complains(JsonNode answer, String path, String text) {
    return kind(answer).equals("Status")
        && answer
            .at("/details/causes")
            .valueStream()
            .anyMatch(
                cause -> cause.path("message").asText().contains(text) && isAbout(cause, path));
  }

  /** Of a number's size the API server speaks at the top, and names the field in the text. */
  private static boolean isAbout(JsonNode cause, String path) {
    String field = cause.path("field").asText();
    String message = cause.path("message").asText();
    String inStatus = field.equals("status") ? path.replaceFirst("^status.", "") : path;
    return field.equals(path) || message.endsWith(" in " + inStatus);
  }

  private static String kind(JsonNode object) {
    return object.path("kind").asText();
  }

  private List<ObjectNode> readFullObjects() throws IOException {
    try (InputStream in = BadManifests.class.getResourceAsStream("full-objects.yaml")) {
      return yaml.readerForListOf(ObjectNode.class).readValue(Objects.requireNonNull(in));
    }
  }
}
