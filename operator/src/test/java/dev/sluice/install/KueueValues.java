package dev.sluice.install;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The values of Kueue's chart: what that chart says, and what the rows of this chart make of it.
 */
final class KueueValues {

  /** The values file of that chart, as people have it. */
  static final Path FILE =
      Path.of("operator/src/test/resources/dev/sluice/install/kueue-values.yaml");

  private static final Path ROWS = Path.of("helm/sluice/files/kueue-values.yaml");
  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  /** Below these, what is given is one value: it has no fields of its own names. */
  private static final List<String> WHOLE =
      List.of("kueueViz.backend", "kueueViz.frontend", "kueueViz.frontend.ingress.annotations");

  /** A part of one of those whose leaves have rows of their own. */
  private static final String INGRESS = "kueueViz.frontend.ingress";

  private KueueValues() {}

  /**
   * A row of the chart's table.
   *
   * @param value the path, which stands for everything below it
   * @param effect what it does, or why it does nothing
   */
  record Row(String value, boolean used, String effect) {

    private static Row of(JsonNode row) {
      String effect = row.path("effect").asText();
      return effect.isEmpty()
          ? new Row(row.path("value").asText(), false, row.path("unused").asText())
          : new Row(row.path("value").asText(), true, effect);
    }

    private boolean isAbout(String leaf) {
      return leaf.equals(value) || leaf.startsWith(value + ".");
    }
  }

  /** The table of the chart. */
  static List<Row> rows() throws IOException {
    return StreamSupport.stream(YAML.readTree(ROWS.toFile()).path("rows").spliterator(), false)
        .map(Row::of)
        .toList();
  }

  /** Every leaf of that chart's values with its default, in their order. */
  static Map<String, JsonNode> leaves() throws IOException {
    Map<String, JsonNode> leaves = new LinkedHashMap<>();
    addLeaves(leaves, "", YAML.readTree(FILE.toFile()));
    return leaves;
  }

  private static void addLeaves(Map<String, JsonNode> leaves, String path, JsonNode node) {
    if (node.isObject() && !node.isEmpty() && !WHOLE.contains(path)) {
      node.properties()
          .forEach(
              field ->
                  addLeaves(
                      leaves,
                      path.isEmpty() ? field.getKey() : path + "." + field.getKey(),
                      field.getValue()));
    } else {
      leaves.put(path, node);
      if (INGRESS.startsWith(path + ".") && node.has("ingress")) {
        addLeaves(leaves, INGRESS, node.path("ingress"));
      }
    }
  }

  /** The row about a leaf. */
  static Row rowOf(String leaf) throws IOException {
    Stream<Row> rows = rows().stream().filter(row -> row.isAbout(leaf));
    return rows.findFirst()
        .orElseThrow(() -> new AssertionError(ROWS + " says nothing about " + leaf));
  }

  /** Values as a tree, from paths to what is given there. */
  static ObjectNode tree(Map<String, JsonNode> given) {
    ObjectNode tree = JsonNodeFactory.instance.objectNode();
    given.forEach(
        (path, value) -> {
          ObjectNode parent = tree;
          List<String> keys = List.of(path.split("\\."));
          for (String key : keys.subList(0, keys.size() - 1)) {
            parent = parent.withObjectProperty(key);
          }
          parent.set(keys.getLast(), value);
        });
    return tree;
  }

  /** The page of all values. */
  static String page() throws IOException {
    StringBuilder page = new StringBuilder(Files.readString(Path.of(PAGE_HEAD)));
    for (var leaf : leaves().entrySet()) {
      Row row = rowOf(leaf.getKey());
      page.append(
          "| `%s`%s | %s | %s%s |%n"
              .formatted(
                  leaf.getKey(),
                  !WHOLE.contains(leaf.getKey())
                      ? ""
                      : INGRESS.startsWith(leaf.getKey())
                          ? " and everything else in it"
                          : " and everything in it",
                  shown(leaf.getKey(), leaf.getValue()),
                  row.used() ? "" : "nothing: ",
                  row.effect()));
    }
    return page.toString();
  }

  private static final String PAGE_HEAD =
      "operator/src/test/resources/dev/sluice/install/chart-values-head.md";

  private static String shown(String leaf, JsonNode value) {
    if (WHOLE.contains(leaf)) {
      return "";
    }
    return value.isTextual() && value.asText().contains("\n")
        ? "a file as Kueue ships it"
        : leaf.endsWith("image.repository") ? "an image of Kueue" : "`" + value + "`";
  }
}
