package dev.sluice.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
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
      return on + " " + (isUpdate() ? "changed " : "") + set;
    }
  }

  /** The file. */
  public record Table(Map<String, Base> bases, JsonNode states, List<Row> rows) {}

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
      return new BadManifests(new YAMLMapper().readValue(text, Table.class));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The rows that hold when no more than this is there. */
  public List<Row> rows(Needs needs) {
    return table.rows().stream().filter(row -> row.requirement() == needs).toList();
  }

  /** All rows. */
  public List<Row> rows() {
    return table.rows();
  }

  /** The good object a row starts from. */
  public Base base(Row row) {
    return Objects.requireNonNull(table.bases().get(row.on()), row.on());
  }

  /** The status a row's object is given before the update; empty for none. */
  public Optional<JsonNode> status(Row row) {
    return Optional.ofNullable(row.status())
        .map(status -> status.isTextual() ? table.states().path(status.asText()) : status);
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
