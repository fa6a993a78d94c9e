package dev.sluice.lab.controlplane;

/** A control plane cannot be started, found or stopped; the message gives the reason. */
public final class ControlPlaneException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** With the error and, if available, the log file to read. */
  public ControlPlaneException(String message) {
    super(message);
  }

  /** With the error and its cause. */
  public ControlPlaneException(String message, Throwable cause) {
    super(message, cause);
  }
}
