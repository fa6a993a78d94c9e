package dev.sluice.api.conversion;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.BadManifests;
import dev.sluice.api.ServedApi;
import dev.sluice.api.crd.CrdFiles;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Objects that go through an older version, or come from one, on a real API server. */
@ControlPlaneTest(exclusive = true, controllers = false)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConversionRoundTripIT {

  private static final String STORED = "v1beta2";

  private final YAMLMapper yaml = new YAMLMapper();
  private ServedApi api;
  private String namespace;

  /** An object, the plural of its kind, and an older version that the kind has. */
  record Journey(ObjectNode object, String plural, boolean namespaced, String version) {

    /** The same object under a name of its own. */
    Journey named(String stem) {
      ObjectNode copy = object.deepCopy();
      copy.withObject("/metadata")
          .put("name", "%s-%s-%s".formatted(stem, object.at("/metadata/name").asText(), version));
      return new Journey(copy, plural, namespaced, version);
    }

    @Override
    public String toString() {
      return object.path("kind").asText()
          + " "
          + object.at("/metadata/name").asText()
          + " "
          + version;
    }
  }

  @BeforeAll
  void serve(TestCluster cluster) throws Exception {
    api = ServedApi.withoutAdmission(cluster.client());
    namespace = cluster.namespace();
  }

  @AfterAll
  void stop() {
    api.close();
  }

  @ParameterizedTest
  @MethodSource("storedObjects")
  void whatAnOlderVersionCantSaySurvivesAWriteInIt(Journey full) {
    Journey journey = full.named("down");
    create(journey, STORED);
    if (journey.object().has("status")) {
      ObjectNode withStatus = read(journey, STORED);
      withStatus.set("status", journey.object().get("status"));
      write(journey, STORED, "/status", withStatus);
    }
    ObjectNode before = read(journey, STORED);

    write(journey, journey.version(), "", marked(read(journey, journey.version())));
    if (journey.object().has("status")) {
      write(journey, journey.version(), "/status", read(journey, journey.version()));
    }

    ObjectNode after = read(journey, STORED);
    assertThat(after.at("/metadata/annotations/written").asText()).isEqualTo("yes");
    assertThat(content(after)).isEqualTo(content(before));
    assertThat(content(before)).isEqualTo(content(journey.object()));
  }

  /** Changes of 0.20, section 3. */
  @ParameterizedTest
  @MethodSource("olderObjects")
  void anObjectOfAnOlderVersionComesBackAsItWasAfterAWriteInTheStoredOne(Journey old) {
    Journey journey = old.named("up");
    create(journey, journey.version());
    ObjectNode before = read(journey, journey.version());

    write(journey, STORED, "", marked(read(journey, STORED)));

    ObjectNode after = read(journey, journey.version());
    assertThat(after.at("/metadata/annotations/written").asText()).isEqualTo("yes");
    assertThat(content(after)).isEqualTo(content(before));
    assertThat(contains(content(before), content(journey.object())))
        .as("%s in %s", journey.object(), before)
        .isTrue();
  }

  Stream<Journey> storedObjects() throws IOException {
    try (InputStream in = BadManifests.class.getResourceAsStream("full-objects.yaml")) {
      List<ObjectNode> objects =
          yaml.readerForListOf(ObjectNode.class).readValue(Objects.requireNonNull(in));
      // The contract has no conversion for this kind, and says that this field is lost.
      objects.stream()
          .filter(object -> object.path("kind").asText().equals("MultiKueueConfig"))
          .forEach(object -> object.withObject("/spec").remove("quotaManagement"));
      return journeys(objects).stream();
    }
  }

  Stream<Journey> olderObjects() throws IOException {
    List<ObjectNode> bases =
        BadManifests.read().rows().stream()
            .map(row -> BadManifests.read().base(row).object())
            .distinct()
            .toList();
    return journeys(bases).stream()
        .filter(
            journey -> journey.object().path("apiVersion").asText().endsWith(journey.version()));
  }

  private List<Journey> journeys(List<ObjectNode> objects) throws IOException {
    List<Journey> journeys = new ArrayList<>();
    for (String text : new CrdFiles().all().values()) {
      JsonNode spec = yaml.readTree(text).path("spec");
      for (JsonNode version : spec.path("versions")) {
        String name = version.path("name").asText();
        for (ObjectNode object : objects) {
          if (!name.equals(STORED) && object.path("kind").equals(spec.at("/names/kind"))) {
            journeys.add(
                new Journey(
                    object,
                    spec.at("/names/plural").asText(),
                    spec.path("scope").asText().equals("Namespaced"),
                    name));
          }
        }
      }
    }
    return journeys;
  }

  private void create(Journey journey, String version) {
    String path = path(journey, version);
    done(api.send("POST", path.substring(0, path.lastIndexOf('/')), journey.object()));
  }

  private ObjectNode read(Journey journey, String version) {
    return done(api.send("GET", path(journey, version), journey.object()));
  }

  private void write(Journey journey, String version, String subresource, ObjectNode object) {
    done(api.send("PUT", path(journey, version) + subresource, object));
  }

  private static ObjectNode done(JsonNode answer) {
    assertThat(answer.path("kind").asText()).as("%s", answer).isNotEqualTo("Status");
    return (ObjectNode) answer;
  }

  private String path(Journey journey, String version) {
    return "/apis/kueue.x-k8s.io/%s%s/%s/%s"
        .formatted(
            version,
            journey.namespaced() ? "/namespaces/" + namespace : "",
            journey.plural(),
            journey.object().at("/metadata/name").asText());
  }

  private static ObjectNode marked(ObjectNode object) {
    object.withObject("/metadata").withObject("/annotations").put("written", "yes");
    return object;
  }

  private static ObjectNode content(ObjectNode object) {
    return object.deepCopy().without(List.of("metadata", "apiVersion"));
  }

  /** Whether all that the part says is said in the whole, which may have defaults besides. */
  private static boolean contains(JsonNode whole, JsonNode part) {
    if (part.isObject()) {
      return part.properties().stream()
          .allMatch(field -> contains(whole.path(field.getKey()), field.getValue()));
    }
    if (part.isArray()) {
      return whole.size() == part.size()
          && Stream.iterate(0, index -> index < part.size(), index -> index + 1)
              .allMatch(index -> contains(whole.get(index), part.get(index)));
    }
    return whole.equals(part);
  }
}
