package dev.sluice.lab.bench;

/** A benchmark can't be run, or did not end well; the message says why. */
public final class BenchException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** With a message for people. */
  public BenchException(String message) {
    super(message);
  }

  /** With a message for people, and what lies behind it. */
  public BenchException(String message, Throwable cause) {
    super(message, cause);
  }
}
