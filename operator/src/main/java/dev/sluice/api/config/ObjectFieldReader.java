package dev.sluice.api.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.JsonNodeType;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Quantities;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/**
 * The fields of one object of the file. Each read takes a field by name and type; a value of
 * another type is noted as a problem and read as absent. What was never asked for is unknown.
 *
 * <p>What was read is settled: it is kept, with the defaults in place of what is absent, as the
 * object that says the same in a file. A list that is absent stays absent there.
 */
final class ObjectFieldReader {

  private final ObjectNode object;
  private final ObjectNode settled = JsonNodeFactory.instance.objectNode();
  private final String path;
  private final ValidationErrors errors;
  private final Set<String> asked = new LinkedHashSet<>();

  ObjectFieldReader(JsonNode object, String path, ValidationErrors errors) {
    this.errors = errors;
    this.path = path;
    boolean usable = object.isObject() || object.isMissingNode() || object.isNull();
    if (!usable) {
      errors.value(path, shown(object), "fields with values");
    }
    this.object =
        object instanceof ObjectNode fields ? fields : JsonNodeFactory.instance.objectNode();
  }

  static String below(String path, String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  /** The full path of a field of this object. */
  String path(String name) {
    return below(path, name);
  }

  /** What the fields that were read say, with defaults in place of absent ones. */
  ObjectNode settled() {
    return settled;
  }

  /** Settles a field whose default isn't known here, or that is to be written in another way. */
  void settle(String name, JsonNode value) {
    settled.set(name, value);
  }

  /** Leaves a field out of what is settled: it says nothing, or nothing that may be shown. */
  void unsettle(String name) {
    settled.remove(name);
  }

  /** Has a field read as if the file gave this value, unless the file gives one. */
  void defaultTo(String name, JsonNode value) {
    if (!has(name)) {
      object.set(name, value);
    }
  }

  /** Whether the field is there with a value. */
  boolean has(String name) {
    return object.hasNonNull(name);
  }

  Optional<String> text(String name) {
    return typed(name, JsonNodeType.STRING, "a text").map(JsonNode::textValue);
  }

  /** A text; {@code otherwise} where the field is absent or empty. */
  String text(String name, String otherwise) {
    String text = text(name).filter(value -> !value.isEmpty()).orElse(otherwise);
    settled.put(name, text);
    return text;
  }

  /**
   * The field {@code directory}: an absolute path.
   *
   * @param required whether it has to be there; otherwise it may be empty
   */
  String directory(boolean required) {
    String directory = text("directory", "");
    check(
        "directory",
        directory.startsWith("/") || (directory.isEmpty() && !required),
        directory,
        "the absolute path of a directory");
    return directory;
  }

  /** A text that must be there. */
  String required(String name, String allowed) {
    Optional<String> text = text(name).filter(value -> !value.isEmpty());
    if (text.isEmpty() && (!has(name) || object.get(name).isTextual())) {
      errors.add(path(name), "is missing; needed: " + allowed);
    }
    return text.orElse("");
  }

  Optional<Boolean> flag(String name) {
    return typed(name, JsonNodeType.BOOLEAN, "true or false").map(JsonNode::booleanValue);
  }

  boolean flag(String name, boolean otherwise) {
    boolean flag = flag(name).orElse(otherwise);
    settled.put(name, flag);
    return flag;
  }

  Optional<Long> whole(String name, long least, long most) {
    String allowed = "a whole number from " + least + " to " + most;
    Optional<JsonNode> node = typed(name, JsonNodeType.NUMBER, allowed);
    if (node.isEmpty()) {
      return Optional.empty();
    }
    JsonNode number = node.get();
    boolean fits =
        number.isIntegralNumber()
            && number.canConvertToLong()
            && number.longValue() >= least
            && number.longValue() <= most;
    errors.check(fits, path(name), shown(number), allowed);
    return fits ? Optional.of(number.longValue()) : Optional.empty();
  }

  int whole(String name, int otherwise, int least, int most) {
    int whole = whole(name, least, most).map(Long::intValue).orElse(otherwise);
    settled.put(name, whole);
    return whole;
  }

  /** A number of bytes, as a quantity or as a number; {@code otherwise} when absent or wrong. */
  long bytes(String name, String otherwise, long least, long most) {
    JsonNode node = object.path(name);
    String text =
        node.isIntegralNumber() ? node.asText() : text(name).filter(it -> !it.isEmpty()).orElse("");
    asked.add(name);
    String given = text.isEmpty() ? otherwise : text;
    settled.put(name, given);
    try {
      BigDecimal bytes = Quantities.parse(given);
      if (bytes.compareTo(BigDecimal.valueOf(least)) >= 0
          && bytes.compareTo(BigDecimal.valueOf(most)) <= 0) {
        return bytes.longValue();
      }
      errors.value(path(name), given, "from " + least + " to " + most + " bytes");
    } catch (IllegalArgumentException e) {
      errors.add(path(name), String.valueOf(e.getMessage()));
    }
    return Quantities.parse(otherwise).longValue();
  }

  double number(String name, double otherwise) {
    double number =
        typed(name, JsonNodeType.NUMBER, "a number").map(JsonNode::doubleValue).orElse(otherwise);
    check(name, Double.isFinite(number), number, "a finite number");
    settled.put(name, number);
    return number;
  }

  Optional<Duration> duration(String name) {
    Optional<String> text = text(name);
    if (text.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(GoDuration.parse(text.get()));
    } catch (IllegalArgumentException e) {
      errors.add(path(name), String.valueOf(e.getMessage()));
      return Optional.empty();
    }
  }

  /** A duration of at least {@code least}; {@code otherwise} when it is absent or wrong. */
  Duration duration(String name, Duration otherwise, Duration least) {
    Duration duration = duration(name).orElse(otherwise);
    if (duration.compareTo(least) < 0) {
      errors.value(path(name), GoDuration.format(duration), "at least " + GoDuration.format(least));
      return otherwise;
    }
    settled.put(name, GoDuration.format(duration));
    return duration;
  }

  /** What one of a few words stands for; {@code otherwise} where there is none, or a wrong one. */
  <T> T word(String name, Map<String, T> words, String otherwise) {
    Optional<T> meaning = word(name, words);
    if (meaning.isEmpty()) {
      settled.put(name, otherwise);
    }
    return meaning.orElseGet(() -> Objects.requireNonNull(words.get(otherwise)));
  }

  /** What one of a few words stands for, unless the field is absent or empty. */
  <T> Optional<T> word(String name, Map<String, T> words) {
    Optional<String> text = text(name).filter(value -> !value.isEmpty());
    if (text.isEmpty()) {
      unsettle(name);
    }
    text.filter(value -> !words.containsKey(value))
        .ifPresent(value -> errors.value(path(name), value, alternatives(words)));
    return text.map(words::get);
  }

  /** The fields of an object below this one; empty ones when it is absent. */
  ObjectFieldReader object(String name) {
    asked.add(name);
    ObjectFieldReader fields = new ObjectFieldReader(object.path(name), path(name), errors);
    settled.set(name, fields.settled);
    return fields;
  }

  /** The fields of each object of a list. */
  List<ObjectFieldReader> objects(String name) {
    List<ObjectFieldReader> objects =
        each(name, (node, at) -> Optional.of(new ObjectFieldReader(node, at, errors)));
    if (!objects.isEmpty()) {
      ArrayNode list = settled.putArray(name);
      objects.forEach(fields -> list.add(fields.settled));
    }
    return objects;
  }

  /** The texts of a list. */
  List<String> texts(String name) {
    return each(name, this::textAt);
  }

  /** The whole numbers of a list. */
  List<Integer> integers(String name) {
    return each(
        name,
        (node, at) -> {
          boolean whole = node.isIntegralNumber() && node.canConvertToInt();
          errors.check(whole, at, shown(node), "a whole number");
          return whole ? Optional.of(node.intValue()) : Optional.empty();
        });
  }

  /** The values of a map with free keys, read by {@code read}; null values are skipped. */
  <T> Map<String, T> map(String name, BiFunction<JsonNode, String, Optional<T>> read) {
    Map<String, T> result = new LinkedHashMap<>();
    ObjectFieldReader inner = object(name);
    inner
        .object
        .properties()
        .forEach(
            entry -> {
              if (!entry.getValue().isNull()) {
                read.apply(entry.getValue(), name(inner.path, entry.getKey()))
                    .ifPresent(
                        value -> {
                          inner.settled.set(entry.getKey(), entry.getValue());
                          result.put(entry.getKey(), value);
                        });
              }
            });
    return result;
  }

  /** A text at a path, or empty with a problem noted. */
  Optional<String> textAt(JsonNode node, String at) {
    errors.check(node.isTextual(), at, shown(node), "a text" + quoteHint(node));
    return Optional.ofNullable(node.textValue());
  }

  /** Takes fields that are known and that nobody reads. */
  void accept(String... names) {
    asked.addAll(List.of(names));
  }

  /** Ends the reading: fields that nobody asked for are unknown. */
  void nothingElse() {
    object
        .properties()
        .forEach(
            entry -> {
              if (!asked.contains(entry.getKey())) {
                errors.add(path(entry.getKey()), "unknown field" + suggestion(entry.getKey()));
              }
            });
  }

  /** The value that the fields make; ends the reading as {@link #nothingElse} does. */
  <T> T done(T value) {
    nothingElse();
    return value;
  }

  /** Notes a problem with a field of this object unless its value is good. */
  void check(String name, boolean good, Object value, String allowed) {
    errors.check(good, path(name), value, allowed);
  }

  /** Notes a problem with a field of this object. */
  void refuse(String name, String message) {
    errors.add(path(name), message);
  }

  /**
   * Fields that another version of the file has: they are unknown here, and the message says so.
   * They are read as absent from now on.
   */
  void onlyIn(String version, String... names) {
    for (String name : names) {
      asked.add(name);
      if (object.has(name)) {
        errors.add(path(name), "unknown field: only files of version " + version + " have it");
        object.remove(name);
      }
    }
  }

  private static String alternatives(Map<String, ?> words) {
    return words.keySet().stream().sorted().collect(Collectors.joining(", "));
  }

  private String suggestion(String unknown) {
    String known = String.join(", ", asked);
    return asked.stream()
        .filter(name -> name.toLowerCase(Locale.ROOT).equals(unknown.toLowerCase(Locale.ROOT)))
        .findFirst()
        .map(name -> "; did you mean " + name + "?")
        .orElse("; known here: " + known);
  }

  private <T> List<T> each(String name, BiFunction<JsonNode, String, Optional<T>> read) {
    asked.add(name);
    JsonNode list = object.path(name);
    if (list.isMissingNode() || list.isNull()) {
      return List.of();
    }
    errors.check(list.isArray(), path(name), shown(list), "a list");
    settled.set(name, list);
    List<T> result = new ArrayList<>();
    for (int i = 0; list.isArray() && i < list.size(); i++) {
      read.apply(list.get(i), path(name) + "[" + i + "]").ifPresent(result::add);
    }
    return List.copyOf(result);
  }

  private Optional<JsonNode> typed(String name, JsonNodeType type, String allowed) {
    asked.add(name);
    JsonNode node = object.path(name);
    if (node.isMissingNode() || node.isNull()) {
      return Optional.empty();
    }
    if (node.getNodeType() != type) {
      String hint = type == JsonNodeType.STRING ? quoteHint(node) : "";
      errors.value(path(name), shown(node), allowed + hint);
      return Optional.empty();
    }
    settled.set(name, node);
    return Optional.of(node);
  }

  private static String quoteHint(JsonNode node) {
    return node.isValueNode() && !node.isTextual() && !node.isNull()
        ? " (write it in quotes: \"" + node.asText() + "\")"
        : "";
  }

  private static Object shown(JsonNode node) {
    return switch (node.getNodeType()) {
      case STRING -> node.textValue();
      case ARRAY -> new Shown("a list");
      case OBJECT -> new Shown("an object");
      default -> new Shown(node.asText());
    };
  }

  private static String name(String path, String key) {
    return path + (key.indexOf('.') >= 0 || key.indexOf('/') >= 0 ? "[" + key + "]" : "." + key);
  }

  private record Shown(String text) {
    @Override
    public String toString() {
      return text;
    }
  }
}
