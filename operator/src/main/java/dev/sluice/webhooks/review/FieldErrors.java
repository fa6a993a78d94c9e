package dev.sluice.webhooks.review;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.TextLimits;
import dev.sluice.api.json.JsonMappers;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Collects the validation errors of one object, in the wording of the API server. Their number and
 * size are bounded, whatever the object holds: the first {@value #MOST_KEPT} are kept, the others
 * are counted; values and allowed values are cut. Not thread-safe.
 */
public final class FieldErrors {

  /** More errors than people are shown, so that an update can be compared with what was there. */
  static final int MOST_KEPT = 100;

  private static final int MAX_SHOWN = 256;
  private static final int MAX_BODY = 2048;
  private static final int MOST_ALLOWED_SHOWN = 20;

  private final List<FieldError> errors = new ArrayList<>();
  private int further;

  /** Adds an error: the value breaks the rule. */
  public void invalid(FieldPath path, JsonNode value, String rule) {
    add(path, FieldError.Kind.INVALID, () -> "Invalid value: " + shown(value) + ": " + rule);
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
    add(path, FieldError.Kind.REQUIRED, () -> "Required value: " + why);
  }

  /** Adds an error: the value occurs more than once. */
  public void duplicate(FieldPath path, String value, String rule) {
    add(
        path,
        FieldError.Kind.DUPLICATE,
        () -> "Duplicate value: " + shown(TextNode.valueOf(value)) + ": " + rule);
  }

  /** Adds an error: the value is not one of the allowed values. */
  public void notSupported(FieldPath path, String value, Collection<String> allowed) {
    add(
        path,
        FieldError.Kind.NOT_SUPPORTED,
        () ->
            "Unsupported value: "
                + shown(TextNode.valueOf(value))
                + (allowed.isEmpty()
                    ? ": no value is supported here"
                    : ": supported values: " + shown(allowed)));
  }

  private static String shown(Collection<String> allowed) {
    String first =
        allowed.stream()
            .sorted()
            .limit(MOST_ALLOWED_SHOWN)
            .map(it -> "\"" + TextLimits.shown(it, MAX_SHOWN) + "\"")
            .collect(Collectors.joining(", "));
    int more = allowed.size() - MOST_ALLOWED_SHOWN;
    return more > 0 ? first + " and " + more + " more" : first;
  }

  /** Adds an error: the field must not be set; {@code why} gives the reason. */
  public void forbidden(FieldPath path, String why) {
    add(path, FieldError.Kind.FORBIDDEN, () -> "Forbidden: " + why);
  }

  /** Adds an error: somebody else has changed what the operator alone may write. */
  public void operatorOnly(FieldPath path) {
    forbidden(path, "is written by the operator alone");
  }

  /** Adds an error: there are more values than the maximum. */
  public void tooMany(FieldPath path, int count, int max, String what) {
    add(
        path,
        FieldError.Kind.TOO_MANY,
        () -> "Too many: " + count + ": must have at most " + max + " " + what);
  }

  /** Adds an error: the value was changed but is immutable. */
  public void immutable(FieldPath path, JsonNode value, String when) {
    invalid(path, value, "field is immutable" + (when.isEmpty() ? "" : " " + when));
  }

  /** The errors found so far, in order; the last one counts those that were not kept. */
  public List<FieldError> errors() {
    if (further == 0) {
      return List.copyOf(errors);
    }
    List<FieldError> all = new ArrayList<>(errors);
    all.add(FieldError.further(further));
    return List.copyOf(all);
  }

  private void add(FieldPath path, FieldError.Kind kind, Supplier<String> body) {
    if (errors.size() == MOST_KEPT) {
      further++;
      return;
    }
    String text = body.get();
    errors.add(
        new FieldError(
            new FieldPath(TextLimits.shown(path.text(), MAX_BODY)),
            kind,
            TextLimits.shown(text, MAX_BODY),
            1));
  }

  /** The value as JSON, of which no more is written than is shown. */
  private static String shown(JsonNode value) {
    if (value.isMissingNode()) {
      return "null";
    }
    if (value.isTextual()) {
      String text = value.textValue();
      return text.length() <= MAX_SHOWN
          ? value.toString()
          : TextNode.valueOf(text.substring(0, MAX_SHOWN))
              + "... ("
              + text.length()
              + " characters)";
    }
    BoundedWriter writer = new BoundedWriter();
    try {
      JsonMappers.JSON.writeValue(writer, value);
      return writer.text.toString();
    } catch (IOException full) {
      return writer.text + "...";
    }
  }

  /** Holds the beginning of what is written to it, then refuses more. */
  private static final class BoundedWriter extends Writer {

    private final StringBuilder text = new StringBuilder();

    @Override
    public void write(char[] characters, int offset, int length) throws IOException {
      int room = MAX_SHOWN - text.length();
      text.append(characters, offset, Math.min(room, length));
      if (length > room) {
        throw new IOException("no more is shown");
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
