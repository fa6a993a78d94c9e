package dev.sluice.webhooks.kinds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/**
 * What somebody sees who writes a wrong manifest: kubectl's words and exit code, and where kubectl
 * says nothing, the condition that tells. docs/wrong-manifests.md has the texts, and is written
 * anew with sluice.docs.write=true; each of them names the field.
 */
@OperatorTest
@Tag(BuildBreadth.NIGHTLY)
class WrongManifestsIT {

  private static final Path PAGE = Path.of("docs", "wrong-manifests.md");
  private static final String MARK = "<!-- by WrongManifestsIT -->\n";
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final String API = "kueue.x-k8s.io/v1beta2/";
  private static final String WORKLOAD = "Workload";

  /** Where an answer names a field, or a label or annotation. */
  private static final String FIELD = "(?s).*(spec|metadata|value|kueue\\.x-k8s\\.io/|\\.dev/).*";

  private final ObjectMapper json = new ObjectMapper();

  @SuppressWarnings("NullAway.Init") // set by each test
  private TestCluster cluster;

  @SuppressWarnings("NullAway.Init") // set by each test
  private JsonNode cases;

  /** What kubectl left. */
  private record Said(String text, int code) {}

  @Test
  void theirWriterIsToldTheFieldAndWhatIsAllowed(TestCluster own) throws IOException {
    need("kubectl");
    cluster = own;
    cases = read();
    cluster.applyText(cases.path("given").asText());
    QueuedJobs api = new QueuedJobs(cluster);
    api.awaitCondition(API + "LocalQueue", "jobs", "Active", "True");
    StringBuilder page = new StringBuilder();
    List<String> faults = new ArrayList<>();

    table(page, "Refused, with exit code 1");
    for (JsonNode each : cases.path("refused")) {
      Said said = kubectl(each, true);
      row(page, each, said.text());
      expect(said.code() == 1 && said.text().matches(FIELD), each, said, faults);
    }
    table(page, "Accepted with a warning, with exit code 0");
    for (JsonNode each : cases.path("warned")) {
      Said said = kubectl(each, true);
      row(page, each, said.text());
      expect(said.code() == 0 && said.text().contains("Warning: "), each, said, faults);
    }
    table(page, "Accepted with exit code 0, and told by a condition");
    for (JsonNode each : cases.path("told")) {
      Said said = kubectl(each, false);
      row(page, each, condition(each));
      expect(said.code() == 0, each, said, faults);
    }
    compare(page.toString());
    assertThat(faults).isEmpty();
  }

  private static void expect(boolean holds, JsonNode fault, Said said, List<String> faults) {
    if (!holds) {
      faults.add("%s: exit code %d: %s".formatted(fault, said.code(), said.text()));
    }
  }

  private static JsonNode read() throws IOException {
    try (InputStream in = WrongManifestsIT.class.getResourceAsStream("wrong-manifests.yaml")) {
      return new YAMLMapper().readTree(in);
    }
  }

  private static void compare(String tables) throws IOException {
    String page = Files.readString(PAGE);
    String head = page.substring(0, page.indexOf(MARK) + MARK.length());
    if (Boolean.getBoolean("sluice.docs.write")) {
      Files.writeString(PAGE, head + tables);
    }
    assertThat(PAGE).hasContent(head + tables);
  }

  private static void table(StringBuilder page, String title) {
    page.append("\n## ").append(title).append("\n\n| manifest | with | answer |\n|---|---|---|\n");
  }

  private void row(StringBuilder page, JsonNode fault, String answer) {
    page.append(
        "| %s | `%s` | %s |\n"
            .formatted(fault.path("of").asText(), own(fault.path("with").asText()), own(answer))
            .replace(" \n", "\n"));
  }

  /** As it would be without other tests: without the suffix of names, on one line. */
  private String own(String text) {
    String suffix = cluster.name("").substring(1);
    return text.replace("-${suffix}", "")
        .replace("-" + suffix, "")
        .replace("error when creating \"STDIN\": ", "")
        .replace(" (server dry run)", "")
        // of a dry run alone: docs/simulate.md
        .replaceAll("Warning: simulation: .*\n", "")
        .strip()
        .replace("|", "\\|")
        .replace("<", "&lt;")
        // no link of a regular expression
        .replace("](", "]&#40;")
        .replaceAll("\\s*\n[\\s*]*", "<br>");
  }

  private ObjectNode manifest(JsonNode fault) throws IOException {
    ObjectNode right = cases.path("manifests").path(fault.path("of").asText()).deepCopy();
    JsonNode wrong = new YAMLMapper().readTree("{" + fault.path("with").asText() + "}");
    merge(right, wrong);
    String suffix = cluster.name("").substring(1);
    return (ObjectNode)
        json.readTree(
            right
                .toString()
                .replace("${suffix}", suffix)
                .replace("${namespace}", cluster.namespace()));
  }

  /** RFC 7386. */
  private static void merge(ObjectNode into, JsonNode patch) {
    for (Map.Entry<String, JsonNode> field : patch.properties()) {
      JsonNode value = field.getValue();
      if (value.isNull()) {
        into.remove(field.getKey());
      } else if (value.isObject() && into.path(field.getKey()).isObject()) {
        merge((ObjectNode) into.path(field.getKey()), value);
      } else {
        into.set(field.getKey(), value);
      }
    }
  }

  private Said kubectl(JsonNode fault, boolean dryRun) throws IOException {
    ObjectNode manifest = manifest(fault);
    if (!dryRun) {
      return applied(manifest);
    }
    return run(manifest, "create", "--dry-run=server", "-f", "-");
  }

  /** Made through the test's cluster, too, so that it is deleted with it. */
  private Said applied(ObjectNode manifest) throws IOException {
    Said said = run(manifest, "create", "-f", "-");
    cluster.applyText(manifest.toString());
    return said;
  }

  private Said run(ObjectNode manifest, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add("kubectl");
    command.add("--kubeconfig=" + cluster.kubeconfig());
    command.addAll(List.of(arguments));
    Process kubectl = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (var input = kubectl.outputWriter(StandardCharsets.UTF_8)) {
      input.write(manifest.toString());
    }
    String text = new String(kubectl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      return new Said(text, kubectl.waitFor());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  /** The condition that tells of the fault. */
  private String condition(JsonNode fault) throws IOException {
    String kind = fault.path("in").asText();
    String type = fault.path("condition").asText();
    String name = manifest(fault).at("/metadata/name").asText();
    QueuedJobs api = new QueuedJobs(cluster);
    String object = kind.equals(WORKLOAD) ? api.workloadOf("batch/v1/Job", name) : name;
    await(fault.toString())
        .atMost(LIMIT)
        .until(() -> conditionOf(api, kind, object, type).path("status").asText().equals("False"));
    JsonNode condition = conditionOf(api, kind, object, type);
    return "%s `%s=False`, %s: %s"
        .formatted(
            kind, type, condition.path("reason").asText(), condition.path("message").asText());
  }

  private static JsonNode conditionOf(QueuedJobs api, String kind, String name, String type) {
    return api.get(API + kind, name)
        .at("/status/conditions")
        .valueStream()
        .filter(each -> each.path("type").asText().equals(type))
        .findFirst()
        .orElse(com.fasterxml.jackson.databind.node.MissingNode.getInstance());
  }

  private static void need(String program) {
    boolean found =
        Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
            .anyMatch(place -> Files.isExecutable(Path.of(place, program)));
    if (!found) {
      throw new TestAbortedException("what it says is not tried: no " + program + " on the PATH");
    }
  }
}
