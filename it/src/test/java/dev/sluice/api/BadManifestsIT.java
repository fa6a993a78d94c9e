package dev.sluice.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.BadManifests.Base;
import dev.sluice.api.BadManifests.Needs;
import dev.sluice.api.BadManifests.Row;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.crd.SchemaRule;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import dev.sluice.webhooks.EmptyCluster;
import dev.sluice.webhooks.kinds.Webhooks;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the API server answers to bad manifests, by schema and by webhook. */
@ControlPlaneTest(exclusive = true, controllers = false)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BadManifestsIT {

  private final BadManifests table = BadManifests.read();
  private final AtomicInteger counter = new AtomicInteger();
  private ServedApi api;
  private String namespace;

  @BeforeAll
  void serve(TestCluster cluster) throws Exception {
    Set<FeatureGate> gates =
        Arrays.stream(FeatureGate.values())
            .filter(FeatureGate::onByDefault)
            .collect(Collectors.toSet());
    var settings = new WebhookSettings(false, labels -> true, Set.of("batch/job"), gates, gates);
    api = ServedApi.start(cluster.client(), Webhooks.functions(settings, new EmptyCluster() {}));
    namespace = cluster.namespace();
  }

  @AfterAll
  void stop() {
    api.close();
  }

  @Test
  void theTableIsLongEnough() {
    assertThat(table.rows()).hasSizeGreaterThan(150);
  }

  @Test
  void theGoodObjectsAreGood() {
    for (Row row : table.rows()) {
      assertThat(created(row, Map.of(), "?dryRun=All").path("kind").asText())
          .as("%s", row.on())
          .isEqualTo(table.base(row).object().path("kind").asText());
    }
  }

  @ParameterizedTest
  @MethodSource("rejected")
  void isRejectedWithFieldValueAndWhatIsAllowed(Row row) {
    JsonNode answer = written(row, row.set());

    assertThat(answer.path("kind").asText()).as("%s", answer).isEqualTo("Status");
    assertThat(answer.path("code").asInt()).isBetween(400, 500);
    assertThat(answer.path("message").asText()).contains(row.rejected());
  }

  @ParameterizedTest
  @MethodSource("rejectedWithNeighbour")
  void itsGoodNeighbourIsAccepted(Row row) {
    JsonNode answer = written(row, row.neighbour());

    assertThat(answer.path("kind").asText())
        .as("%s", answer)
        .isEqualTo(table.base(row).object().path("kind").asText());
  }

  @Test
  void everyRuleOfTheDefinitionsRejectsAndAcceptsInSomeRow() {
    List<SchemaRule> untried = new ArrayList<>(SchemaRule.all("v1beta2"));
    assertThat(untried).hasSizeGreaterThan(40);

    rejectedWithNeighbour()
        .filter(row -> row.requirement() == Needs.SCHEMA)
        .map(row -> written(row, row.set()))
        .forEach(answer -> untried.removeIf(rule -> rule.isBrokenIn(answer)));

    assertThat(untried).as("rules that no row with \"but\" breaks").isEmpty();
  }

  Stream<Row> rejected() {
    return table.rows().stream().filter(row -> row.requirement() != Needs.OPERATOR);
  }

  Stream<Row> rejectedWithNeighbour() {
    return rejected().filter(row -> !row.neighbour().isEmpty());
  }

  private JsonNode written(Row row, Map<String, JsonNode> changes) {
    Map<String, JsonNode> given = row.given();
    if (given == null) {
      return created(row, changes, "?dryRun=All");
    }
    ObjectNode object = (ObjectNode) created(row, given, "");
    assertThat(object.path("kind").asText()).as("%s", object).isNotEqualTo("Status");
    for (JsonNode status : table.statuses(row)) {
      object.set("status", status);
      object = (ObjectNode) api.send("PUT", path(row, object) + "/status", object);
      assertThat(object.path("kind").asText()).as("%s", object).isNotEqualTo("Status");
    }
    if ("batch".equals(table.base(row).group())) {
      object.withObject("/metadata").remove("resourceVersion"); // Kubernetes writes to Jobs too
    }
    String subresource = "status".equals(row.at()) ? "/status" : "";
    return api.send(
        "PUT",
        path(row, object) + subresource + "?dryRun=All",
        BadManifests.changed(object, changes));
  }

  private JsonNode created(Row row, Map<String, JsonNode> changes, String query) {
    Base base = table.base(row);
    ObjectNode object = base.object().deepCopy();
    ObjectNode metadata = (ObjectNode) object.get("metadata");
    metadata.put(
        "name", "%s-%d".formatted(metadata.path("name").asText(), counter.incrementAndGet()));
    return api.send("POST", base.path(namespace) + query, BadManifests.changed(object, changes));
  }

  private String path(Row row, JsonNode object) {
    return table.base(row).path(namespace) + "/" + object.at("/metadata/name").asText();
  }
}
