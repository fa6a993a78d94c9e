package dev.sluice.lab.controlplane.binaries;

/** A source cannot provide a bundle; the message is the reason, for users. */
public final class SourceFailedException extends Exception {

  private static final long serialVersionUID = 1L;

  /** With the reason as a phrase that follows "source: ". */
  public SourceFailedException(String reason) {
    super(reason);
  }

  /** With the reason and its cause. */
  public SourceFailedException(String reason, Throwable cause) {
    super(reason, cause);
  }
}
