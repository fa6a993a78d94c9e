package dev.sluice.workload.record;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Quantities;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Digests of the part of a pod template that tells whether two templates run the same pods:
 * containers, init containers, resource claims and tolerations. A job's template and the copy of it
 * in a Workload have equal digests however either was written: order of keys, absent against empty,
 * quantities ({@code 1} and {@code 1000m}), repeated environment variables (the last wins) and
 * values that the API server fills in by itself make no difference.
 *
 * @param full of containers, init containers, resource claims and tolerations
 * @param withoutTolerations of containers, init containers and resource claims
 */
public record PodTemplateHash(String full, String withoutTolerations) {

  private static final Map<String, String> DEFAULTS =
      Map.of(
          "terminationMessagePath", "/dev/termination-log",
          "terminationMessagePolicy", "File",
          "protocol", "TCP");

  /** The digests of a pod template's {@code spec}; absent parts count as empty. */
  public static PodTemplateHash of(JsonNode podSpec) {
    ObjectNode pods = JsonNodeFactory.instance.objectNode();
    pods.set("initContainers", containers(podSpec.path("initContainers")));
    pods.set("containers", containers(podSpec.path("containers")));
    if (!podSpec.path("resourceClaims").isEmpty()) {
      pods.set("resourceClaims", podSpec.path("resourceClaims").deepCopy());
    }
    String withoutTolerations = digest(canonical(pods));
    pods.set("tolerations", podSpec.path("tolerations").deepCopy());
    return new PodTemplateHash(digest(canonical(pods)), withoutTolerations);
  }

  private static ArrayNode containers(JsonNode containers) {
    ArrayNode result = JsonNodeFactory.instance.arrayNode();
    for (JsonNode container : containers) {
      if (!(container instanceof ObjectNode valid)) {
        result.add(container.deepCopy());
        continue;
      }
      ObjectNode copy = valid.deepCopy();
      if (copy.path("imagePullPolicy").asText().equals(defaultPullPolicy(copy))) {
        copy.remove("imagePullPolicy");
      }
      if (copy.get("env") instanceof ArrayNode env) {
        copy.set("env", lastOfEachName(env));
      }
      result.add(copy);
    }
    return result;
  }

  /** The entries of {@code env} with repeated names reduced to the last, at the last's place. */
  public static ArrayNode lastOfEachName(ArrayNode env) {
    Map<String, JsonNode> byName = new LinkedHashMap<>();
    for (JsonNode variable : env) {
      String name = variable.path("name").asText();
      byName.remove(name);
      byName.put(name, variable);
    }
    return JsonNodeFactory.instance.arrayNode().addAll(byName.values());
  }

  /** Kubernetes' rule: Always for the tag latest, given or implied, otherwise IfNotPresent. */
  private static String defaultPullPolicy(JsonNode container) {
    String image = container.path("image").asText();
    String name = image.substring(image.lastIndexOf('/') + 1);
    boolean digested = name.contains("@");
    boolean latest = !digested && (name.endsWith(":latest") || !name.contains(":"));
    return latest ? "Always" : "IfNotPresent";
  }

  private static String canonical(JsonNode node) {
    StringBuilder text = new StringBuilder();
    write("", node, text);
    return text.toString();
  }

  /** Appends a value to a text that all values share: nested ones are not copied at each depth. */
  private static void write(String key, JsonNode node, StringBuilder text) {
    switch (node.getNodeType()) {
      case OBJECT -> writeObject(key, node, text);
      case ARRAY -> {
        text.append('[');
        for (JsonNode item : node) {
          write("", item, text);
          text.append(',');
        }
        text.append(']');
      }
      case NUMBER -> text.append(plainNumber(node));
      default -> text.append(node);
    }
  }

  private static void writeObject(String key, JsonNode node, StringBuilder text) {
    boolean quantities = key.equals("requests") || key.equals("limits");
    Map<String, JsonNode> fields = new TreeMap<>();
    node.properties().forEach(field -> fields.put(field.getKey(), field.getValue()));
    text.append('{');
    fields.forEach(
        (name, value) -> {
          if (isAbsent(value) || value.asText().equals(DEFAULTS.get(name))) {
            return;
          }
          int before = text.length();
          text.append(name).append(':');
          int begin = text.length();
          if (quantities) {
            text.append(quantity(value));
          } else {
            write(name, value, text);
          }
          if (isEmpty(text, begin)) {
            text.setLength(before);
          } else {
            text.append(',');
          }
        });
    text.append('}');
  }

  /** Whether what was written from here on is an empty object or list. */
  private static boolean isEmpty(StringBuilder text, int begin) {
    return text.length() == begin + 2
        && ((text.charAt(begin) == '{' && text.charAt(begin + 1) == '}')
            || (text.charAt(begin) == '[' && text.charAt(begin + 1) == ']'));
  }

  private static boolean isAbsent(JsonNode value) {
    return value.isNull()
        || value.isMissingNode()
        || (value.isTextual() && value.asText().isEmpty());
  }

  private static String plainNumber(JsonNode node) {
    return node.decimalValue().stripTrailingZeros().toPlainString();
  }

  private static String quantity(JsonNode value) {
    try {
      return Quantities.parse(value.asText()).stripTrailingZeros().toPlainString();
    } catch (IllegalArgumentException notAQuantity) {
      return value.toString();
    }
  }

  /** The first 96 bits of the SHA-256 of a text in UTF-8, as 24 hexadecimal digits. */
  public static String digest(String text) {
    try {
      byte[] sha =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(sha, 0, 12);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
