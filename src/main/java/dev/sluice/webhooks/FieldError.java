package dev.sluice.webhooks;

/**
 * A validation error of one field.
 *
 * @param path path of the field
 * @param kind kind of the error
 * @param body the invalid value and what is allowed, without the path
 */
public record FieldError(FieldPath path, Kind kind, String body) {

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
    TOO_MANY("FieldValueTooMany");

    private final String reason;

    Kind(String reason) {
      this.reason = reason;
    }

    /** The reason in a status cause. */
    public String reason() {
      return reason;
    }
  }

  /** Path and body. */
  public String message() {
    return path + ": " + body;
  }
}
