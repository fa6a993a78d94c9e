package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** Collects what is wrong with one object, in the words of the API server. For one thread. */
public final class FieldErrors {

  private static final int MAX_SHOWN = 256;

  private final List<FieldError> errors = new ArrayList<>();

  /** A value that breaks a rule, and the rule. */
  public void invalid(FieldPath path, JsonNode value, String rule) {
    add(path, FieldError.Kind.INVALID, "Invalid value: " + shown(value) + ": " + rule);
  }

  /** A text that breaks a rule, and the rule. */
  public void invalid(FieldPath path, String value, String rule) {
    invalid(path, TextNode.valueOf(value), rule);
  }

  /** A text that breaks several rules. */
  public void invalid(FieldPath path, String value, Collection<String> rules) {
    rules.forEach(rule -> invalid(path, value, rule));
  }

  /** A value is missing, and why it is needed. */
  public void required(FieldPath path, String why) {
    add(path, FieldError.Kind.REQUIRED, "Required value: " + why);
  }

  /** A value that is there twice, and why it may not be. */
  public void duplicate(FieldPath path, String value, String rule) {
    add(
        path,
        FieldError.Kind.DUPLICATE,
        "Duplicate value: " + shown(TextNode.valueOf(value)) + ": " + rule);
  }

  /** A value that is not among those allowed. */
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

  /** A field that may not be given here, and why. */
  public void forbidden(FieldPath path, String why) {
    add(path, FieldError.Kind.FORBIDDEN, "Forbidden: " + why);
  }

  /** More values than there may be. */
  public void tooMany(FieldPath path, int count, int max, String what) {
    add(
        path,
        FieldError.Kind.TOO_MANY,
        "Too many: " + count + ": must have at most " + max + " " + what);
  }

  /** A value that differs from what it was and may not. */
  public void immutable(FieldPath path, JsonNode value, String when) {
    invalid(path, value, "field is immutable" + (when.isEmpty() ? "" : " " + when));
  }

  /** Everything found so far, in order. */
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
