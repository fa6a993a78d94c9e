package dev.sluice.webhooks;

/**
 * One thing that is wrong with an object.
 *
 * @param path where
 * @param kind what sort of mistake
 * @param body what is wrong, without the path: the value, and what is allowed
 */
public record FieldError(FieldPath path, Kind kind, String body) {

  /** Sorts of mistakes, with the reason that the API server's clients know them by. */
  public enum Kind {
    /** A value that breaks a rule. */
    INVALID("FieldValueInvalid"),
    /** A value is missing. */
    REQUIRED("FieldValueRequired"),
    /** A value that may be there only once. */
    DUPLICATE("FieldValueDuplicate"),
    /** A value that is none of those that are known. */
    NOT_SUPPORTED("FieldValueNotSupported"),
    /** A field that may not be given here. */
    FORBIDDEN("FieldValueForbidden"),
    /** More values than there may be. */
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

  /** Path and body, as people read it. */
  public String message() {
    return path + ": " + body;
  }
}
