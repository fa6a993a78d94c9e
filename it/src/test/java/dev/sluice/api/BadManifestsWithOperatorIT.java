package dev.sluice.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.BadManifests.Base;
import dev.sluice.api.BadManifests.Needs;
import dev.sluice.api.BadManifests.Reported;
import dev.sluice.api.BadManifests.Row;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the running operator makes of bad manifests: a message, a condition, and no stack trace. */
@ControlPlaneTest(exclusive = true, fresh = false)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag(BuildBreadth.NIGHTLY)
class BadManifestsWithOperatorIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final BadManifests table = BadManifests.read();
  private final AtomicInteger counter = new AtomicInteger();
  private RawApi api;
  private OperatorProcess operator;
  private String namespace;

  @BeforeAll
  void start(TestCluster cluster, @TempDir Path directory) {
    api = new RawApi(cluster.client());
    namespace = cluster.namespace();
    operator =
        OperatorProcess.start(
                "operator",
                cluster.kubeconfig(),
                OperatorSettings.onFreePorts(new Random()),
                directory,
                List.of())
            .awaitReady();
    for (JsonNode good : table.world()) {
      Base base = table.base(good.path("like").asText());
      Map<String, JsonNode> changes = new LinkedHashMap<>();
      good.path("set").properties().forEach(set -> changes.put(set.getKey(), set.getValue()));
      ObjectNode object = BadManifests.changed(base.object().deepCopy(), changes);
      object.withObject("/metadata").set("name", good.path("name"));
      JsonNode made = api.send("POST", base.path(namespace), object);
      assertThat(made.path("kind")).as("%s", made).isEqualTo(object.path("kind"));
    }
  }

  @AfterAll
  void stop() {
    operator.close();
    api.close();
  }

  @ParameterizedTest
  @MethodSource("accepted")
  void isAcceptedAndReportedInACondition(Row row) {
    ObjectNode object = create(row, row.set(), "");
    Reported expected = Objects.requireNonNull(row.accepted());

    Awaitility.await(row.toString())
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              JsonNode condition = condition(row, object, expected);
              assertThat(condition.path("status").asText()).isEqualTo(expected.status());
              assertThat(condition.path("reason").asText()).isEqualTo(expected.reason());
              String message = condition.path("message").asText();
              assertThat(expected.message()).allSatisfy(part -> assertThat(message).contains(part));
            });
  }

  @Test
  void allThatIsRejectedIsRejectedByTheOperatorTooAndNothingIsAStackTraceToIt() throws IOException {
    List<String> problems = new ArrayList<>();
    rejected()
        .forEach(
            row -> {
              JsonNode answer = create(row, row.set(), "?dryRun=All");
              String message = answer.path("message").asText();
              if (!Objects.requireNonNull(row.rejected()).stream().allMatch(message::contains)) {
                problems.add(row + ": " + answer);
              }
            });

    assertThat(problems).isEmpty();
    assertThat(operator.isAlive()).isTrue();
    assertThat(Files.readAllLines(operator.log()))
        .isNotEmpty()
        .noneMatch(line -> line.matches("\\s+at [\\w.$/]+\\(.*") || line.startsWith("Caused by:"));
  }

  Stream<Row> accepted() {
    return table.rows(Needs.OPERATOR).stream();
  }

  private Stream<Row> rejected() {
    return table.rows().stream()
        .filter(row -> row.requirement() != Needs.OPERATOR && !row.isUpdate())
        // Without the gate PartialAdmission the operator takes a minCount away, right or wrong.
        .filter(row -> !row.toString().contains("minCount"));
  }

  private JsonNode condition(Row row, JsonNode object, Reported expected) {
    String path = table.base(row).path(namespace) + "/" + object.at("/metadata/name").asText();
    return api.send("GET", path, object)
        .at("/status/conditions")
        .valueStream()
        .filter(condition -> condition.path("type").asText().equals(expected.type()))
        .findFirst()
        .orElse(MissingNode.getInstance());
  }

  private ObjectNode create(Row row, Map<String, JsonNode> changes, String query) {
    Base base = table.base(row);
    ObjectNode object = base.object().deepCopy();
    object
        .withObject("/metadata")
        .put(
            "name",
            "bad-%s-%d".formatted(object.at("/metadata/name").asText(), counter.incrementAndGet()));
    return (ObjectNode)
        api.send("POST", base.path(namespace) + query, BadManifests.changed(object, changes));
  }
}
