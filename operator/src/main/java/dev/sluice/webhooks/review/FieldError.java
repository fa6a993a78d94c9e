package dev.sluice.webhooks.review;

import java.util.ArrayList;
import java.util.List;

/**
 * A validation error of one field, or the number of those that an object has besides.
 *
 * @param path path of the field
 * @param kind kind of the error
 * @param body the invalid value and what is allowed, without the path
 * @param count how many errors it stands for; more than 1 only for those that were not kept
 */
public record FieldError(FieldPath path, Kind kind, String body, int count) {

  /** How many errors of an object people are shown. */
  public static final int MOST_SHOWN = 20;

  /** Kinds of errors, with the reasons that the API server uses. */
  public enum Kind {
    /** The value is invalid. */
    INVALID("FieldValueInvalid"),
    /** The value is missing. */
    REQUIRED("FieldValueRequired"),
    /** The value occurs more than once. */
    DUPLICATE("FieldValueDuplicate"),
    /** The value is not one of the supported values. */
    NOT_SUPPORTED("FieldValueNotSupported"),
    /** The field must not be set. */
    FORBIDDEN("FieldValueForbidden"),
    /** There are too many values. */
    TOO_MANY("FieldValueTooMany"),
    /** Errors that the object has besides those that are named. */
    FURTHER("FieldValueInvalid");

    private final String reason;

    Kind(String reason) {
      this.reason = reason;
    }

    /** The reason in a status cause. */
    public String reason() {
      return reason;
    }
  }

  /** Errors that an object has besides those that were kept. */
  static FieldError further(int count) {
    String body = "and " + count + (count == 1 ? " more error" : " more errors");
    return new FieldError(FieldPath.of("metadata"), Kind.FURTHER, body, count);
  }

  /** Whether it stands for errors that were not kept. */
  boolean isFurther() {
    return kind == Kind.FURTHER;
  }

  /** Path and body. */
  public String message() {
    return isFurther() ? body : path + ": " + body;
  }

  /** The first {@link #MOST_SHOWN} of the errors, and one that says how many more there are. */
  public static List<FieldError> shown(List<FieldError> errors) {
    if (errors.size() <= MOST_SHOWN && errors.stream().noneMatch(FieldError::isFurther)) {
      return errors;
    }
    int all = errors.stream().mapToInt(FieldError::count).sum();
    List<FieldError> shown =
        new ArrayList<>(
            errors.stream().filter(error -> !error.isFurther()).limit(MOST_SHOWN).toList());
    shown.add(further(all - shown.size()));
    return shown;
  }
}
