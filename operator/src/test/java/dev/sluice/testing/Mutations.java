package dev.sluice.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.placement.LocalClusterAnnotations;
import java.lang.reflect.Field;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/** Changes objects in ways that nobody who means well would: the same ways for the same seed. */
public final class Mutations {

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private static final List<String> TEXTS =
      List.of(
          "",
          " ",
          "5-3",
          "0-99999999",
          "0-9223372036854775808",
          "-1",
          "1e999999999",
          "999999999999999999999999999999",
          "-9223372036854775808",
          "2147483648",
          "0x7fffffff",
          "NaN",
          "1.5.5",
          "1h1h",
          "9999999999999h",
          "P1D",
          "2026-13-45T99:99:99Z",
          "+999999999-12-31T23:59:59Z",
          "null",
          "true",
          "{",
          "[[[[[[",
          "{\"completedIndexes\":\"5-3\",\"active\":-1,\"succeeded\":\"x\"}",
          "{\"completedIndexes\":{\"a\":[1]},\"ready\":99999999999}",
          "[{\"topology\":1,\"size\":\"x\"}]",
          "\u0000\u0001",
          "\ud800",
          "\u202e\u200b\ufeff",
          "٣٤٥",
          "𝟘-𝟡",
          "a".repeat(300),
          "a/".repeat(50),
          ",".repeat(100),
          "=",
          "a in (",
          "../../etc/passwd",
          "%s%n{}");

  private static final List<String> OURS = ours();

  private final SplittableRandom random;

  /** Changes that this seed decides. */
  public Mutations(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /** Every label and annotation that the operator knows. */
  private static List<String> ours() {
    return Stream.concat(
            Stream.of(KueueConstants.class.getDeclaredFields()).map(Mutations::text),
            Stream.of(
                LocalClusterAnnotations.REMOTE_STATUS,
                LocalClusterAnnotations.MAY_RUN_HERE,
                LocalClusterAnnotations.FLAVOR,
                "sluice.dev/placement-region",
                "sluice.dev/expected-run-time",
                "sluice.dev/placement-cluster-selector",
                "sluice.dev/run-for"))
        .filter(key -> key.contains("/") && key.length() < 100)
        .toList();
  }

  private static String text(Field field) {
    try {
      field.setAccessible(true);
      return field.get(null) instanceof String text ? text : "";
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A copy with one to six changes. */
  public ObjectNode of(ObjectNode object) {
    ObjectNode copy = object.deepCopy();
    int changes = 1 + random.nextInt(6);
    for (int i = 0; i < changes; i++) {
      change(copy);
    }
    return copy;
  }

  private void change(ObjectNode object) {
    if (random.nextInt(4) == 0) {
      ObjectNode metadata = child(random.nextInt(5) == 0 ? template(object) : object, "metadata");
      child(metadata, random.nextBoolean() ? "annotations" : "labels")
          .set(OURS.get(random.nextInt(OURS.size())), hostileText());
      return;
    }
    List<JsonNode> containers = new ArrayList<>();
    collect(object, containers);
    switch (containers.get(random.nextInt(containers.size()))) {
      case ObjectNode fields -> change(fields, object);
      case ArrayNode items -> change(items);
      default -> throw new IllegalStateException("neither object nor list");
    }
  }

  private ObjectNode template(ObjectNode object) {
    return child(child(object, "spec"), "template");
  }

  /** The object there; what is something else makes room for it. */
  private static ObjectNode child(ObjectNode parent, String name) {
    return parent.get(name) instanceof ObjectNode present ? present : parent.putObject(name);
  }

  private static void collect(JsonNode node, List<JsonNode> into) {
    if (node.isContainerNode()) {
      into.add(node);
      node.forEach(each -> collect(each, into));
    }
  }

  private void change(ObjectNode fields, ObjectNode root) {
    List<String> names = new ArrayList<>();
    fields.fieldNames().forEachRemaining(names::add);
    if (fields == root) {
      // Without its kind the API server would not have sent it.
      names.removeAll(List.of("apiVersion", "kind"));
    }
    if (names.isEmpty() || random.nextInt(10) == 0) {
      fields.set(TEXTS.get(random.nextInt(TEXTS.size())), value());
      return;
    }
    String name = names.get(random.nextInt(names.size()));
    switch (random.nextInt(4)) {
      case 0 -> fields.remove(name);
      case 1 -> fields.set(name, hostileText());
      default -> fields.set(name, value());
    }
  }

  private void change(ArrayNode items) {
    switch (random.nextInt(4)) {
      case 0 -> items.removeAll();
      case 1 -> items.insert(0, value());
      case 2 -> items.addNull();
      default -> {
        if (!items.isEmpty()) {
          items.add(items.get(0).deepCopy());
        }
      }
    }
  }

  private JsonNode hostileText() {
    return JSON.textNode(TEXTS.get(random.nextInt(TEXTS.size())));
  }

  private JsonNode value() {
    return switch (random.nextInt(14)) {
      case 0 -> JSON.nullNode();
      case 1 -> JSON.booleanNode(random.nextBoolean());
      case 2 -> JSON.numberNode(-1);
      case 3 -> JSON.numberNode(Integer.MAX_VALUE);
      case 4 -> JSON.numberNode(Integer.MIN_VALUE);
      case 5 -> JSON.numberNode(Long.MAX_VALUE);
      case 6 -> JSON.numberNode(BigInteger.TEN.pow(400));
      case 7 -> JSON.numberNode(1e300);
      case 8 -> JSON.objectNode();
      case 9 -> JSON.arrayNode();
      case 10 -> JSON.objectNode().set("x", JSON.arrayNode().add(JSON.nullNode()));
      case 11 -> JSON.arrayNode().add(hostileText());
      case 12 -> random.nextInt(50) == 0 ? deep() : JSON.numberNode(0.5);
      default -> hostileText();
    };
  }

  /** Deeper than any parser takes by default. */
  private JsonNode deep() {
    JsonNode node = JSON.objectNode();
    int depth = 50 + random.nextInt(1500);
    for (int i = 0; i < depth; i++) {
      node = i % 2 == 0 ? JSON.arrayNode().add(node) : JSON.objectNode().set("a", node);
    }
    return node;
  }
}
