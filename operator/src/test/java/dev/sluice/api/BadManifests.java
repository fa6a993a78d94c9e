package dev.sluice.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The table of manifests that must not pass unnoticed; its file says what the columns mean. */
public final class BadManifests {

  /** What has to be there for a row to hold. */
  public enum Needs {
    /** The custom resource definitions. */
    @JsonProperty("schema")
    SCHEMA,
    /** The operator's webhooks too. */
    @JsonProperty("webhook")
    WEBHOOK,
    /** The operator's controllers too. */
    @JsonProperty("operator")
    OPERATOR
  }

  /** A good object that rows start from. */
  public record Base(@Nullable String group, String plural, boolean namespaced, ObjectNode object) {

    /** Path of the collection in the API. */
    public String path(String namespace) {
      String version = object.path("apiVersion").asText();
      return namespaced
          ? "/apis/%s/namespaces/%s/%s".formatted(version, namespace, plural)
          : "/apis/%s/%s".formatted(version, plural);
    }
  }

  /** A condition that tells what is wrong with an object that was accepted. */
  public record Reported(String type, String status, String reason, List<String> message) {}

  /** One row. */
  public record Row(
      String on,
      @Nullable Map<String, JsonNode> given,
      @Nullable JsonNode status,
      Map<String, JsonNode> set,
      @Nullable String at,
      @Nullable List<String> rejected,
      @Nullable Reported accepted,
      @Nullable Map<String, JsonNode> but,
      @Nullable Needs needs) {

    /** What has to be there. */
    public Needs requirement() {
      return needs == null ? Needs.SCHEMA : needs;
    }

    /** Changes that are right; empty for none. */
    public Map<String, JsonNode> neighbour() {
      return but == null ? Map.of() : but;
    }

    /** Whether the row is about a change of an object that is there. */
    public boolean isUpdate() {
      return given != null;
    }

    @Override
    public String toString() {
      String text = on + " " + (isUpdate() ? "changed " : "") + set;
      return text.length() > 200 ? text.substring(0, 200) + "..." : text;
    }
  }

  /** The file. */
  public record Table(
      Map<String, Base> bases, List<JsonNode> world, JsonNode states, List<Row> rows) {}

  private final Table table;

  private BadManifests(Table table) {
    this.table = table;
  }

  /** Reads the table. */
  public static BadManifests read() {
    try (InputStream in = BadManifests.class.getResourceAsStream("bad-manifests.yaml")) {
      String text =
          new String(Objects.requireNonNull(in, "bad-manifests.yaml").readAllBytes(), UTF_8)
              .replace("(q)", "/spec/resourceGroups/0/flavors/0/resources/0");
      YAMLMapper yaml = new YAMLMapper();
      return new BadManifests(yaml.treeToValue(expanded(yaml.readTree(text)), Table.class));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes out what is to be repeated. */
  private static JsonNode expanded(JsonNode node) {
    return switch (node) {
      case ObjectNode object when object.has("repeat") -> {
        ArrayNode items = object.arrayNode();
        for (int index = 0; index < object.path("repeat").asInt(); index++) {
          String placeholder = "{%s}".formatted(object.path("as").asText());
          items.add(replaced(expanded(object.path("item")), placeholder, index));
        }
        yield items;
      }
      case ObjectNode object -> {
        ObjectNode result = object.objectNode();
        object.properties().forEach(e -> result.set(e.getKey(), expanded(e.getValue())));
        yield result;
      }
      case ArrayNode array -> {
        ArrayNode result = array.arrayNode();
        array.forEach(item -> result.add(expanded(item)));
        yield result;
      }
      default -> node;
    };
  }

  private static JsonNode replaced(JsonNode node, String placeholder, int index) {
    return switch (node) {
      case ObjectNode object -> {
        ObjectNode result = object.objectNode();
        object
            .properties()
            .forEach(e -> result.set(e.getKey(), replaced(e.getValue(), placeholder, index)));
        yield result;
      }
      case ArrayNode array -> {
        ArrayNode result = array.arrayNode();
        array.forEach(item -> result.add(replaced(item, placeholder, index)));
        yield result;
      }
      case TextNode text ->
          TextNode.valueOf(text.asText().replace(placeholder, Integer.toString(index)));
      default -> node;
    };
  }

  /** The rows that hold when no more than this is there. */
  public List<Row> rows(Needs needs) {
    return table.rows().stream().filter(row -> row.requirement() == needs).toList();
  }

  /** All rows. */
  public List<Row> rows() {
    return table.rows();
  }

  /** Good objects that a row with a condition may count on, each like a base and with a name. */
  public List<JsonNode> world() {
    return table.world();
  }

  /** The good object a row starts from. */
  public Base base(Row row) {
    return base(row.on());
  }

  /** The good object of this name. */
  public Base base(String name) {
    return Objects.requireNonNull(table.bases().get(name), name);
  }

  /** The statuses a row's object is given one after the other before the update. */
  public List<JsonNode> statuses(Row row) {
    JsonNode status = row.status();
    return switch (status) {
      case null -> List.of();
      case TextNode name -> List.of(table.states().path(name.asText()));
      case ArrayNode several -> several.valueStream().toList();
      default -> List.of(status);
    };
  }

  /** The object with the changes made to it. */
  public static ObjectNode changed(ObjectNode object, Map<String, JsonNode> changes) {
    ObjectNode result = object.deepCopy();
    changes.forEach((pointer, value) -> change(result, JsonPointer.compile(pointer), value));
    return result;
  }

  private static void change(ObjectNode object, JsonPointer pointer, JsonNode value) {
    JsonPointer head = pointer.head();
    String field = pointer.last().getMatchingProperty();
    if (object.at(head) instanceof ArrayNode array) {
      int index = pointer.last().getMatchingIndex();
      if (value.isNull()) {
        array.remove(index);
      } else if (index < array.size()) {
        array.set(index, value);
      } else {
        array.add(value);
      }
    } else {
      ObjectNode parent = head.length() == 0 ? object : object.withObject(head);
      if (value.isNull()) {
        parent.remove(field);
      } else {
        parent.set(field, value);
      }
    }
  }
}
