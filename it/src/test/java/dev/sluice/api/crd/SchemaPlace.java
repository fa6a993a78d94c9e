package dev.sluice.api.crd;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A field in a schema: names of properties from the top, {@code []} for the items of a list and
 * {@code {}} for the values of a map.
 */
record SchemaPlace(List<String> steps, JsonNode schema) {

  private static final String ITEM = "[]";
  private static final String VALUE = "{}";

  SchemaPlace {
    steps = List.copyOf(steps);
  }

  /** All fields of the schema of a kind, except those that every kind has. */
  static List<SchemaPlace> of(JsonNode schema) {
    List<SchemaPlace> places = new ArrayList<>();
    collect(new SchemaPlace(List.of(), schema), places);
    return places;
  }

  private static void collect(SchemaPlace place, List<SchemaPlace> places) {
    places.add(place);
    for (var property : place.schema.path("properties").properties()) {
      boolean ofEveryKind =
          place.steps.isEmpty()
              && List.of("apiVersion", "kind", "metadata").contains(property.getKey());
      if (!ofEveryKind) {
        collect(place.below(property.getKey(), property.getValue()), places);
      }
    }
    if (place.schema.has("items")) {
      collect(place.below(ITEM, place.schema.get("items")), places);
    }
    if (place.schema.path("additionalProperties").isObject()) {
      collect(place.below(VALUE, place.schema.get("additionalProperties")), places);
    }
  }

  SchemaPlace below(String step, JsonNode schema) {
    List<String> longer = new ArrayList<>(steps);
    longer.add(step);
    return new SchemaPlace(longer, schema);
  }

  /** Whether it is part of the status, which is written for itself. */
  boolean isStatus() {
    return !steps.isEmpty() && steps.getFirst().equals("status");
  }

  /** The first value of this field in an object. */
  Optional<Located> in(ObjectNode object) {
    return find(object, 0, "");
  }

  private Optional<Located> find(JsonNode node, int depth, String pointer) {
    if (node.isMissingNode()) {
      return Optional.empty();
    }
    if (depth == steps.size()) {
      return Optional.of(new Located(pointer));
    }
    String step = steps.get(depth);
    if (step.equals(ITEM) && node instanceof ArrayNode list) {
      for (int index = 0; index < list.size(); index++) {
        Optional<Located> found = find(list.get(index), depth + 1, pointer + "/" + index);
        if (found.isPresent()) {
          return found;
        }
      }
      return Optional.empty();
    }
    String name = step.equals(VALUE) ? node.fieldNames().next() : step;
    return find(node.path(name), depth + 1, pointer + "/" + name.replace("/", "~1"));
  }

  @Override
  public String toString() {
    return steps.stream().collect(Collectors.joining("."));
  }

  /** A value in an object, by its JSON pointer. */
  record Located(String pointer) {

    /** The way the API server writes the path. */
    String path() {
      return pointer
          .substring(Math.min(1, pointer.length()))
          .replaceAll("/(\\d+)", "[$1]")
          .replace('/', '.');
    }
  }
}
