package dev.sluice.lab.controlplane.binaries;

/** A source can't give a bundle; the message is the reason, for people. */
public final class SourceFailedException extends Exception {

  private static final long serialVersionUID = 1L;

  /** With the reason as a phrase that stands after "source: ". */
  public SourceFailedException(String reason) {
    super(reason);
  }

  /** With the reason, and what caused it. */
  public SourceFailedException(String reason, Throwable cause) {
    super(reason, cause);
  }
}
