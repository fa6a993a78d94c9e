package dev.sluice.api.crd;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * The full schema of a pod template, as a definition can have it, from what an API server
 * publishes.
 */
final class PodTemplateSchemas {

  private static final String TEMPLATE = "io.k8s.api.core.v1.PodTemplateSpec";
  private static final List<String> KEPT =
      List.of("type", "format", "required", "description", "enum", "x-kubernetes-map-type");

  private final JsonNode published;

  /**
   * Schemas of an API server.
   *
   * @param published its answer to {@code /openapi/v3/api/v1}
   */
  PodTemplateSchemas(JsonNode published) {
    this.published = published.at("/components/schemas");
  }

  /** The schema of a pod template with all fields of its specification. */
  ObjectNode full() {
    ObjectNode template = structural(published.path(TEMPLATE));
    ObjectNode metadata = template.withObject("/properties").putObject("metadata");
    metadata.put("type", "object").put("x-kubernetes-preserve-unknown-fields", true);
    return template;
  }

  private ObjectNode structural(JsonNode schema) {
    JsonNode referred = schema.has("allOf") ? schema.at("/allOf/0") : schema;
    if (referred.has("$ref")) {
      String name = referred.path("$ref").asText();
      return structural(published.path(name.substring(name.lastIndexOf('/') + 1)));
    }
    ObjectNode result = published.isObject() ? ((ObjectNode) published).objectNode() : null;
    if (result == null) {
      throw new IllegalStateException("no schemas were published");
    }
    if (schema.has("oneOf") || schema.path("format").asText().equals("int-or-string")) {
      return result.put("x-kubernetes-int-or-string", true);
    }
    KEPT.stream().filter(schema::has).forEach(key -> result.set(key, schema.get(key)));
    if (schema.has("properties")) {
      ObjectNode properties = result.putObject("properties");
      schema
          .get("properties")
          .properties()
          .forEach(property -> properties.set(property.getKey(), structural(property.getValue())));
    }
    if (schema.has("items")) {
      result.set("items", structural(schema.get("items")));
      list(schema, result);
    }
    if (schema.has("additionalProperties")) {
      result.set("additionalProperties", structural(schema.get("additionalProperties")));
    }
    return result;
  }

  /** A key of a list has to be required or to have a default; else the list is left as it is. */
  private static void list(JsonNode schema, ObjectNode result) {
    if (!(schema.get("x-kubernetes-list-map-keys") instanceof ArrayNode keys)) {
      return;
    }
    List<String> required =
        result.at("/items/required").valueStream().map(JsonNode::asText).toList();
    if (keys.valueStream().allMatch(key -> required.contains(key.asText()))) {
      result.put("x-kubernetes-list-type", "map").set("x-kubernetes-list-map-keys", keys);
    }
  }
}
