package dev.sluice.lab.controlplane;

/** A control plane can't be started, found or stopped; the message is for people. */
public final class ControlPlaneException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** With what went wrong and, where there is one, where to look. */
  public ControlPlaneException(String message) {
    super(message);
  }

  /** With what went wrong, and what caused it. */
  public ControlPlaneException(String message, Throwable cause) {
    super(message, cause);
  }
}
