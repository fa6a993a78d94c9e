package dev.sluice.workload;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The part of a pod's spec that decides where the pod may run and what it requests. Pods of one
 * shape have the same role in their group, and a pod set with quota must keep its shape.
 *
 * @param parts the remaining parts of the spec, in canonical form
 */
public record PodRoleHash(ObjectNode parts) {

  /** The names of all parts; {@code requests} are pod-level requests. */
  public static final List<String> FIELDS =
      List.of(
          "initContainers",
          "containers",
          "nodeSelector",
          "affinity",
          "tolerations",
          "runtimeClassName",
          "priority",
          "topologySpreadConstraints",
          "overhead",
          "resourceClaims",
          "requests");

  private static final int HASH = 8;
  private static final int LISTS_OF_CONTAINERS = 2;
  private static final List<String> PLAIN = FIELDS.subList(LISTS_OF_CONTAINERS, FIELDS.size() - 1);

  /** The shape of a pod's {@code spec}; absent and empty parts are equal. */
  public static PodRoleHash of(JsonNode podSpec) {
    ObjectNode parts = JsonNodeFactory.instance.objectNode();
    for (String field : List.of("initContainers", "containers")) {
      ArrayNode containers = parts.putArray(field);
      for (JsonNode container : podSpec.path(field)) {
        ObjectNode kept = containers.addObject();
        keep(kept, "requests", container.path("resources").path("requests"));
        keep(kept, "ports", container.path("ports"));
      }
    }
    for (String field : PLAIN) {
      keep(parts, field, podSpec.path(field));
    }
    keep(parts, "requests", podSpec.path("resources").path("requests"));
    return new PodRoleHash(parts);
  }

  private static void keep(ObjectNode parts, String field, JsonNode value) {
    boolean absent = value.isMissingNode() || value.isNull();
    boolean empty = value.isContainerNode() && value.isEmpty();
    if (!absent && !empty) {
      parts.set(field, sorted(value));
    }
  }

  private static JsonNode sorted(JsonNode value) {
    if (value.isArray()) {
      ArrayNode copy = JsonNodeFactory.instance.arrayNode();
      value.forEach(item -> copy.add(sorted(item)));
      return copy;
    }
    if (!value.isObject()) {
      return value;
    }
    Map<String, JsonNode> fields = new TreeMap<>();
    value.properties().forEach(field -> fields.put(field.getKey(), sorted(field.getValue())));
    ObjectNode copy = JsonNodeFactory.instance.objectNode();
    fields.forEach(copy::set);
    return copy;
  }

  /** The name of the role that pods of this shape play: the first 8 digits of its SHA-256. */
  public String roleHash() {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256")
              .digest(parts.toString().getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest).substring(0, HASH);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
