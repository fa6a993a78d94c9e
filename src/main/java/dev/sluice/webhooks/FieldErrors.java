package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Collects the validation errors of one object, in the wording of the API server. Not thread-safe.
 */
public final class FieldErrors {

  private static final int MAX_SHOWN = 256;

  private final List<FieldError> errors = new ArrayList<>();

  /** Adds an error: the value breaks the rule. */
  public void invalid(FieldPath path, JsonNode value, String rule) {
    add(path, FieldError.Kind.INVALID, "Invalid value: " + shown(value) + ": " + rule);
  }

  /** Adds an error: the text breaks the rule. */
  public void invalid(FieldPath path, String value, String rule) {
    invalid(path, TextNode.valueOf(value), rule);
  }

  /** Adds one error per rule that the text breaks. */
  public void invalid(FieldPath path, String value, Collection<String> rules) {
    rules.forEach(rule -> invalid(path, value, rule));
  }

  /** Adds an error: the value is missing; {@code why} says why it is required. */
  public void required(FieldPath path, String why) {
    add(path, FieldError.Kind.REQUIRED, "Required value: " + why);
  }

  /** Adds an error: the value occurs more than once. */
  public void duplicate(FieldPath path, String value, String rule) {
    add(
        path,
        FieldError.Kind.DUPLICATE,
        "Duplicate value: " + shown(TextNode.valueOf(value)) + ": " + rule);
  }

  /** Adds an error: the value is not one of the allowed values. */
  public void notSupported(FieldPath path, String value, Collection<String> allowed) {
    add(
        path,
        FieldError.Kind.NOT_SUPPORTED,
        "Unsupported value: "
            + shown(TextNode.valueOf(value))
            + ": supported values: "
            + allowed.stream()
                .sorted()
                .map(it -> "\"" + it + "\"")
                .collect(Collectors.joining(", ")));
  }

  /** Adds an error: the field must not be set; {@code why} gives the reason. */
  public void forbidden(FieldPath path, String why) {
    add(path, FieldError.Kind.FORBIDDEN, "Forbidden: " + why);
  }

  /** Adds an error: there are more values than the maximum. */
  public void tooMany(FieldPath path, int count, int max, String what) {
    add(
        path,
        FieldError.Kind.TOO_MANY,
        "Too many: " + count + ": must have at most " + max + " " + what);
  }

  /** Adds an error: the value was changed but is immutable. */
  public void immutable(FieldPath path, JsonNode value, String when) {
    invalid(path, value, "field is immutable" + (when.isEmpty() ? "" : " " + when));
  }

  /** All errors found so far, in order. */
  public List<FieldError> errors() {
    return List.copyOf(errors);
  }

  private void add(FieldPath path, FieldError.Kind kind, String body) {
    errors.add(new FieldError(path, kind, body));
  }

  private static String shown(JsonNode value) {
    if (value.isMissingNode()) {
      return "null";
    }
    String text = value.toString();
    return text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "...";
  }
}
