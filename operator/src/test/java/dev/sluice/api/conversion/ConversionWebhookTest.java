package dev.sluice.api.conversion;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.kube.reflect.TolerantDeserializers;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConversionWebhookTest {

  private final ConversionWebhook reviews = new ConversionWebhook(new HubConverter());

  private JsonNode answer(JsonNode review) {
    byte[] text = review.toString().getBytes(UTF_8);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      reviews.read(() -> new ByteArrayInputStream(text)).writeAnswer(out);
      return new ObjectMapper(TolerantDeserializers.json()).readTree(out.toByteArray());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void allObjectsOfAReviewAreConvertedInTheirOrder() {
    JsonNode answer =
        answer(
            review(
                """
                - {apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: a}, spec: {cohort: x}}
                - {apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: b}, spec: {cohortName: y}}
                """));

    assertThat(answer)
        .isEqualTo(
            yaml(
                """
                apiVersion: apiextensions.k8s.io/v1
                kind: ConversionReview
                response:
                  uid: "7"
                  convertedObjects:
                  - {apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: a}, spec: {cohortName: x}}
                  - {apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: b}, spec: {cohortName: y}}
                  result: {status: Success}
                """));
  }

  /** An API server sends none of these; who else reaches the port may. */
  @ParameterizedTest
  @ValueSource(ints = {0, 9 * 1024 * 1024})
  void anAnswerIsWholeWhateverTextAnObjectHolds(int length) throws IOException {
    String text =
        """
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
         "request": {"uid": "7", "desiredAPIVersion": "kueue.x-k8s.io/v1beta2", "objects": [
          {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue",
           "metadata": {"name": "a\\ud800%s"}, "spec": {}}]}}
        """
            .formatted("x".repeat(length));
    ByteArrayOutputStream out = new ByteArrayOutputStream();

    reviews.read(() -> new ByteArrayInputStream(text.getBytes(UTF_8))).writeAnswer(out);

    JsonNode response = new ObjectMapper().readTree(out.toByteArray()).path("response");
    assertThat(response.at("/result/status").asText())
        .isEqualTo(length == 0 ? "Success" : "Failed");
    assertThat(response.path("convertedObjects")).hasSize(length == 0 ? 1 : 0);
  }

  @Test
  void oneBadObjectFailsTheReviewAndIsNamed() {
    JsonNode answer =
        answer(
            review(
                """
                - apiVersion: kueue.x-k8s.io/v1alpha2
                  kind: ClusterQueue
                  metadata: {name: pool}
                  spec: {resources: [{name: gpu, flavors: [{name: a, quota: {min: 1, max: nonsense}}]}]}
                """));

    assertThat(answer.at("/response/uid").asText()).isEqualTo("7");
    assertThat(answer.at("/response/convertedObjects")).isEmpty();
    assertThat(answer.at("/response/result/status").asText()).isEqualTo("Failed");
    assertThat(answer.at("/response/result/message").asText())
        .startsWith("ClusterQueue pool: ")
        .contains("nonsense");
  }

  @Test
  void anUnknownKindOrVersionIsNamedWithWhatIsAllowed() {
    assertThat(message("{apiVersion: kueue.x-k8s.io/v1beta1, kind: Topology, metadata: {name: t}}"))
        .startsWith("Topology t: kind: Topology has no conversion; those that have one are [Cl");
    assertThat(
            message(
                "{apiVersion: kueue.x-k8s.io/v9, kind: Workload, metadata: {name: w, namespace:"
                    + " n}}"))
        .isEqualTo(
            "Workload n/w: apiVersion: \"kueue.x-k8s.io/v9\" is not served for this kind; it must"
                + " be one of [kueue.x-k8s.io/v1beta2, kueue.x-k8s.io/v1beta1]");
  }

  @Test
  void aReviewWithoutObjectsIsAnsweredToo() {
    for (String nonsense :
        new String[] {
          "{kind: ConversionReview}",
          "{kind: ConversionReview, apiVersion: apiextensions.k8s.io/v1, request: 5}",
          "{kind: ConversionReview, apiVersion: apiextensions.k8s.io/v1, request: {objects: {}}}",
          "{kind: ConversionReview, apiVersion: apiextensions.k8s.io/v1, request: {objects: [3]}}"
        }) {
      JsonNode answer = answer(Objects.read(nonsense, JsonNode.class));

      assertThat(answer.at("/response/result/status").asText()).isEqualTo("Failed");
      assertThat(answer.at("/response/result/message").asText()).isNotEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "[]",
        "3",
        "{\"request\":5}",
        "{\"kind\":\"AdmissionReview\"}",
        "{\"kind\":\"ConversionReview\",\"request\":{},\"request\":{}}",
        "{\"kind\":\"ConversionReview\"}{}"
      })
  void whatIsNoReviewIsRefused(String nonsense) {
    assertThatThrownBy(() -> reviews.read(() -> new ByteArrayInputStream(nonsense.getBytes(UTF_8))))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "no json", "{\"kind\":\"ConversionReview\",\"request\":{\"objects\":["})
  void whatIsNoJsonIsRefused(String nonsense) {
    assertThatThrownBy(() -> reviews.read(() -> new ByteArrayInputStream(nonsense.getBytes(UTF_8))))
        .isInstanceOfAny(IOException.class, IllegalArgumentException.class);
  }

  @Test
  void nestingWithoutEndIsRefused() {
    String deep =
        "{\"kind\":\"ConversionReview\",\"request\":{\"objects\":[" + "{\"a\":".repeat(100_000);
    assertThatThrownBy(() -> reviews.read(() -> new ByteArrayInputStream(deep.getBytes(UTF_8))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("nesting depth");
  }

  /** A review of admission takes the first depth; it has one level less around the object. */
  @ParameterizedTest
  @ValueSource(ints = {198, 900})
  void anObjectThatIsStoredIsConvertedHoweverDeepItIs(int depth) {
    ObjectNode template = Objects.read("{}", ObjectNode.class);
    ObjectNode nested = template;
    for (int i = 5; i < depth; i++) {
      nested = nested.putObject("a");
    }

    assertIsConverted(template);
  }

  @Test
  void anObjectThatIsStoredIsConvertedHoweverLongAName() {
    assertIsConverted(Objects.read("{}", ObjectNode.class).put("k".repeat(60_000), 1));
  }

  private void assertIsConverted(ObjectNode template) {
    ObjectNode review =
        review("- {apiVersion: kueue.x-k8s.io/v1beta1, kind: Workload, metadata: {name: w}}");
    ObjectNode workload = (ObjectNode) review.at("/request/objects/0");
    workload.putObject("spec").putArray("podSets").addObject().set("template", template);

    JsonNode response = answer(review).path("response");

    assertThat(response.path("result").toString()).isEqualTo("{\"status\":\"Success\"}");
    assertThat(response.at("/convertedObjects/0/spec")).isEqualTo(workload.get("spec"));
  }

  @Test
  void theVersionMayComeAfterTheObjects() {
    ObjectNode review =
        review("- {apiVersion: kueue.x-k8s.io/v1beta1, kind: Cohort, metadata: {name: a}}");
    ObjectNode request = (ObjectNode) review.get("request");
    request.set("desiredAPIVersion", request.remove("desiredAPIVersion"));

    assertThat(answer(review).at("/response/convertedObjects/0/apiVersion").asText())
        .isEqualTo("kueue.x-k8s.io/v1beta2");
  }

  @Test
  void anObjectThatIsMalformedAnywhereNeverMakesItThrow() {
    Random random = new Random(1);
    String[] kinds = {
      "ClusterQueue", "LocalQueue", "ResourceFlavor", "Workload", "Cohort", "MultiKueueCluster"
    };
    String[] versions = {"v1beta2", "v1beta1", "v1alpha2"};
    for (int seed = 0; seed < 3000; seed++) {
      ObjectNode object = new Objects(seed).hub(kinds[seed % kinds.length]);
      object.put("apiVersion", "kueue.x-k8s.io/" + versions[random.nextInt(3)]);
      spoil(object, random);
      ObjectNode review = review("[]");
      ((ObjectNode) review.get("request"))
          .put("desiredAPIVersion", "kueue.x-k8s.io/" + versions[random.nextInt(3)])
          .putArray("objects")
          .add(object);

      assertThat(answer(review).at("/response/result/status").asText()).isIn("Success", "Failed");
    }
  }

  /** Replaces one value somewhere in the tree by one of another type. */
  private static void spoil(ObjectNode object, Random random) {
    JsonNode node = object;
    while (true) {
      var names = new java.util.ArrayList<String>();
      node.fieldNames().forEachRemaining(names::add);
      names.removeIf(name -> name.equals("apiVersion") || name.equals("kind"));
      if (names.isEmpty()) {
        return;
      }
      String name = names.get(random.nextInt(names.size()));
      JsonNode child = node.get(name);
      if (child.isObject() && !child.isEmpty() && random.nextInt(3) > 0) {
        node = child;
      } else {
        String[] nonsense = {
          "null", "3", "'text'", "[]", "[1]", "{}", "{a: {b: 1}}", "[{name: 3}]"
        };
        ((ObjectNode) node)
            .set(name, Objects.read(nonsense[random.nextInt(nonsense.length)], JsonNode.class));
        return;
      }
    }
  }

  private String message(String object) {
    return answer(review("- " + object)).at("/response/result/message").asText();
  }

  private static ObjectNode review(String objects) {
    ObjectNode review =
        yaml(
            """
            apiVersion: apiextensions.k8s.io/v1
            kind: ConversionReview
            request: {uid: "7", desiredAPIVersion: kueue.x-k8s.io/v1beta2}
            """);
    ((ObjectNode) review.get("request")).set("objects", Objects.read(objects, JsonNode.class));
    return review;
  }

  private static ObjectNode yaml(String text) {
    return Objects.read(text, ObjectNode.class);
  }
}
