package dev.sluice.api.conversion;

/** An object can't be converted. The message names field, value and what is allowed. */
public final class ConversionException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * An object can't be converted.
   *
   * @param message names field, value and what is allowed; the object is added by the caller
   */
  public ConversionException(String message) {
    super(message);
  }
}
