package dev.sluice.reference;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.reference.ReferenceExpression.Broken;
import dev.sluice.reference.ReferenceExpression.Fails;
import dev.sluice.reference.ReferenceExpression.Type;
import dev.sluice.reference.ReferenceExpression.Version;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Selectors of devices by docs/devices.md#selectors: a part of CEL, read and worked out anew for
 * each device. {@link RandomSelectors} writes within this part.
 */
final class ReferenceSelectors {

  private static final Pattern TOKEN =
      Pattern.compile("\\s*(&&|\\|\\||[=!<>]=|[A-Za-z_]\\w*|\\d+|'[^']*'|\"[^\"]*\"|[^\\s])");

  private final List<String> tokens = new ArrayList<>();
  private int at;

  private ReferenceSelectors(String expression) {
    var matcher = TOKEN.matcher(expression);
    while (matcher.find()) {
      tokens.add(matcher.group(1));
    }
  }

  /** Whether an expression can be compiled. */
  static boolean isExpression(String expression) {
    return RandomSelectors.verdict(expression)
        .map(verdict -> verdict == RandomSelectors.Verdict.NEVER_MET)
        .orElseGet(() -> parsed(expression).isPresent());
  }

  /** Whether a device meets an expression. */
  static boolean matches(String expression, String driver, JsonNode device) {
    if (RandomSelectors.verdict(expression).isPresent()) {
      return false;
    }
    try {
      return parsed(expression)
          .filter(part -> Boolean.TRUE.equals(part.of(seen(driver, device))))
          .isPresent();
    } catch (Fails e) {
      return false;
    }
  }

  private static Optional<ReferenceExpression> parsed(String expression) {
    try {
      ReferenceSelectors parser = new ReferenceSelectors(expression);
      ReferenceExpression whole = parser.or().needs(Type.BOOL);
      return parser.at == parser.tokens.size() ? Optional.of(whole) : Optional.empty();
    } catch (Broken e) {
      return Optional.empty();
    }
  }

  private static Map<String, Object> seen(String driver, JsonNode device) {
    Map<String, Object> attributes = new HashMap<>();
    for (Map.Entry<String, JsonNode> attribute : device.path("attributes").properties()) {
      Object value = value(attribute.getValue());
      if (value != null) {
        put(attributes, driver, attribute.getKey(), value);
      }
    }
    Map<String, Object> capacity = new HashMap<>();
    for (Map.Entry<String, JsonNode> each : device.path("capacity").properties()) {
      ReferenceDeviceCluster.quantity(each.getValue().path("value"))
          .ifPresent(amount -> put(capacity, driver, each.getKey(), amount));
    }
    return Map.of(
        "driver",
        driver,
        "attributes",
        attributes,
        "capacity",
        capacity,
        "allowMultipleAllocations",
        device.path("allowMultipleAllocations").asBoolean(false));
  }

  private static @Nullable Object value(JsonNode attribute) {
    if (attribute.path("int").isIntegralNumber()) {
      return attribute.path("int").longValue();
    }
    if (attribute.path("bool").isBoolean()) {
      return attribute.path("bool").booleanValue();
    }
    if (attribute.path("string").isTextual()) {
      return attribute.path("string").textValue();
    }
    String version = attribute.path("version").asText("");
    return Version.FORM.matcher(version).matches() ? Version.of(version) : null;
  }

  @SuppressWarnings("unchecked")
  private static void put(Map<String, Object> domains, String driver, String name, Object value) {
    String[] parts = (name.contains("/") ? name : driver + "/" + name).split("/", 2);
    ((Map<String, Object>) domains.computeIfAbsent(parts[0], any -> new HashMap<String, Object>()))
        .put(parts[1], value);
  }

  private boolean take(String token) {
    boolean there = at < tokens.size() && tokens.get(at).equals(token);
    at += there ? 1 : 0;
    return there;
  }

  private String next() {
    if (at == tokens.size()) {
      throw new Broken();
    }
    return tokens.get(at++);
  }

  private void expect(String token) {
    if (!take(token)) {
      throw new Broken();
    }
  }

  private ReferenceExpression or() {
    ReferenceExpression left = and();
    while (take("||")) {
      left = ReferenceExpression.either(left, and(), true);
    }
    return left;
  }

  private ReferenceExpression and() {
    ReferenceExpression left = comparison();
    while (take("&&")) {
      left = ReferenceExpression.either(left, comparison(), false);
    }
    return left;
  }

  private ReferenceExpression comparison() {
    ReferenceExpression left = sum();
    for (String operator : List.of("==", "!=", "<=", ">=", "<", ">", "in")) {
      if (take(operator)) {
        return ReferenceExpression.compared(operator, left, sum());
      }
    }
    return left;
  }

  private ReferenceExpression sum() {
    ReferenceExpression left = unary();
    while (take("+")) {
      left = ReferenceExpression.sum(left, unary());
    }
    return left;
  }

  private ReferenceExpression unary() {
    if (take("!")) {
      return ReferenceExpression.not(unary());
    }
    ReferenceExpression value = primary();
    while (true) {
      if (take("[")) {
        ReferenceExpression key = sum().needs(Type.TEXT);
        expect("]");
        value = ReferenceExpression.member(value, key);
      } else if (take(".")) {
        String name = next();
        value =
            take("(")
                ? ReferenceExpression.call(value, name, arguments())
                : ReferenceExpression.member(
                    value, new ReferenceExpression(Type.TEXT, device -> name));
      } else {
        return value;
      }
    }
  }

  private List<ReferenceExpression> arguments() {
    List<ReferenceExpression> arguments = new ArrayList<>();
    while (!take(")")) {
      arguments.add(or());
      if (!take(",") && !tokens.get(Math.min(at, tokens.size() - 1)).equals(")")) {
        throw new Broken();
      }
    }
    return arguments;
  }

  private ReferenceExpression primary() {
    String token = next();
    if (token.equals("(")) {
      ReferenceExpression inner = or();
      expect(")");
      return inner;
    }
    if (token.equals("[")) {
      return list();
    }
    if (token.startsWith("'") || token.startsWith("\"")) {
      String text = token.substring(1, token.length() - 1);
      return new ReferenceExpression(Type.TEXT, device -> text);
    }
    if (token.matches("\\d+")) {
      long number = Long.parseLong(token);
      return new ReferenceExpression(Type.INT, device -> number);
    }
    return switch (token) {
      case "true" -> new ReferenceExpression(Type.BOOL, device -> true);
      case "false" -> new ReferenceExpression(Type.BOOL, device -> false);
      case "device" -> new ReferenceExpression(Type.DEVICE, device -> device);
      case "has" -> has();
      case "quantity" -> parsing(Type.QUANTITY);
      case "semver" -> parsing(Type.VERSION);
      default -> throw new Broken();
    };
  }

  private ReferenceExpression list() {
    List<ReferenceExpression> items = new ArrayList<>();
    while (!take("]")) {
      items.add(sum());
      if (!take(",") && !tokens.get(Math.min(at, tokens.size() - 1)).equals("]")) {
        throw new Broken();
      }
    }
    return new ReferenceExpression(
        Type.LIST, device -> items.stream().map(item -> item.of(device)).toList());
  }

  private ReferenceExpression parsing(Type type) {
    expect("(");
    ReferenceExpression text = sum().needs(Type.TEXT);
    expect(")");
    return ReferenceExpression.parsed(type, text);
  }

  private ReferenceExpression has() {
    expect("(");
    ReferenceExpression asked = unary();
    expect(")");
    return ReferenceExpression.has(asked);
  }
}
