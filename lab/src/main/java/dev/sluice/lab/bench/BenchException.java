package dev.sluice.lab.bench;

/** A benchmark cannot run or failed; the message gives the reason. */
public final class BenchException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** With a message for users. */
  public BenchException(String message) {
    super(message);
  }

  /** With a message for users and a cause. */
  public BenchException(String message, Throwable cause) {
    super(message, cause);
  }
}
