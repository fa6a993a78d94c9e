package dev.sluice.workload.record;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Quantities;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
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
 * @param hashed what the role hash is made of: the same parts in the order that the recipe of the
 *     hash wants, absent and empty ones as {@code null}
 */
public record PodRoleHash(ObjectNode parts, ObjectNode hashed) {

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
    return new PodRoleHash(parts, hashed(podSpec));
  }

  /**
   * A copy of a pod's {@code spec} with limits in place of absent requests, as they are charged:
   * the API server fills them in only in pods.
   */
  public static ObjectNode withLimitsRequested(JsonNode podSpec) {
    ObjectNode copy =
        podSpec instanceof ObjectNode object
            ? object.deepCopy()
            : JsonNodeFactory.instance.objectNode();
    requestLimits(copy);
    for (String field : List.of("initContainers", "containers")) {
      copy.path(field).forEach(PodRoleHash::requestLimits);
    }
    return copy;
  }

  private static void requestLimits(JsonNode podOrContainer) {
    if (podOrContainer.path("resources") instanceof ObjectNode resources
        && resources.path("limits") instanceof ObjectNode limits) {
      ObjectNode requests =
          resources.path("requests") instanceof ObjectNode present
              ? present
              : resources.putObject("requests");
      limits
          .properties()
          .forEach(
              limit -> {
                if (!requests.hasNonNull(limit.getKey())) {
                  requests.set(limit.getKey(), limit.getValue());
                }
              });
    }
  }

  /** Objects within a part keep the order of their fields, which is that of the API server. */
  private static ObjectNode hashed(JsonNode podSpec) {
    ObjectNode hashed = JsonNodeFactory.instance.objectNode();
    ObjectNode spec = hashed.putObject("spec");
    spec.set("affinity", orNull(podSpec.path("affinity")));
    spec.set("containers", containers(podSpec.path("containers")));
    spec.set("initContainers", containers(podSpec.path("initContainers")));
    spec.set("nodeSelector", orNull(sorted(podSpec.path("nodeSelector"))));
    spec.set("overhead", quantities(podSpec.path("overhead")));
    spec.set("priority", orNull(podSpec.path("priority")));
    spec.set("resourceClaims", orNull(podSpec.path("resourceClaims")));
    JsonNode podLevel = podSpec.path("resources");
    if (!isEmpty(podLevel)) {
      spec.set("resources", quantities(podLevel.path("requests")));
    }
    for (String field : List.of("runtimeClassName", "tolerations", "topologySpreadConstraints")) {
      spec.set(field, orNull(podSpec.path(field)));
    }
    return hashed;
  }

  private static JsonNode containers(JsonNode containers) {
    ArrayNode result = JsonNodeFactory.instance.arrayNode();
    for (JsonNode container : containers) {
      ObjectNode kept = result.addObject();
      kept.set("ports", orNull(container.path("ports")));
      kept.putObject("resources")
          .set("requests", quantities(container.path("resources").path("requests")));
    }
    return orNull(result);
  }

  private static JsonNode quantities(JsonNode amounts) {
    Map<String, String> canonical = new TreeMap<>();
    amounts
        .properties()
        .forEach(
            amount ->
                canonical.put(amount.getKey(), CanonicalQuantity.of(amount.getValue().asText())));
    ObjectNode result = JsonNodeFactory.instance.objectNode();
    canonical.forEach(result::put);
    return orNull(result);
  }

  private static JsonNode orNull(JsonNode value) {
    return isEmpty(value) ? JsonNodeFactory.instance.nullNode() : value;
  }

  private static boolean isEmpty(JsonNode value) {
    return value.isMissingNode() || value.isNull() || (value.isContainerNode() && value.isEmpty());
  }

  private static void keep(ObjectNode parts, String field, JsonNode value) {
    if (!isEmpty(value)) {
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

  /**
   * The name of the role that pods of this shape play: the first 8 digits of the SHA-256 of {@link
   * #hashed} as JSON without spaces (docs/webhooks.md), so that Workloads of other operators of
   * this API keep their pods.
   */
  public String roleHash() {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256")
              .digest(escaped(hashed.toString()).getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest).substring(0, HASH);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private static String escaped(String json) {
    return json.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026");
  }

  /** Writes quantities in the form in which the API server returns them. */
  static final class CanonicalQuantity {

    private static final List<String> DECIMAL =
        List.of("n", "u", "m", "", "k", "M", "G", "T", "P", "E");
    private static final List<String> BINARY = List.of("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei");
    private static final BigInteger THOUSAND = BigInteger.valueOf(1000);
    private static final BigInteger KIBI = BigInteger.valueOf(1024);
    private static final int NANO = 9;

    private CanonicalQuantity() {}

    /**
     * The same number with the largest suffix of its family that needs no fraction: {@code 1} for
     * {@code 1000m}, {@code 1536Mi} for {@code 1.5Gi}. Powers of ten, and texts that are no
     * quantities, stay as they are.
     */
    static String of(String quantity) {
      try {
        BigDecimal number = Quantities.parse(quantity);
        if (quantity.endsWith("i") && number.abs().compareTo(new BigDecimal(KIBI)) >= 0) {
          return shortened(up(number), KIBI, BINARY);
        }
        return quantity.matches(".*[eE][+-]?[0-9]+")
            ? quantity
            : shortened(up(number.scaleByPowerOfTen(NANO)), THOUSAND, DECIMAL);
      } catch (IllegalArgumentException notAQuantity) {
        return quantity;
      }
    }

    private static BigInteger up(BigDecimal number) {
      return number.setScale(0, RoundingMode.UP).toBigInteger();
    }

    private static String shortened(BigInteger number, BigInteger factor, List<String> suffixes) {
      if (number.signum() == 0) {
        return "0";
      }
      BigInteger rest = number;
      int suffix = 0;
      while (suffix < suffixes.size() - 1 && rest.mod(factor).signum() == 0) {
        rest = rest.divide(factor);
        suffix++;
      }
      return rest + suffixes.get(suffix);
    }
  }
}
