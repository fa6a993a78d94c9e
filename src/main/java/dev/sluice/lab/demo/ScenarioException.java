package dev.sluice.lab.demo;

/** The story can't go on; the message says what was waited for in vain. */
public final class ScenarioException extends RuntimeException {

  private static final long serialVersionUID = 1;

  /** Because of this. */
  public ScenarioException(String message) {
    super(message);
  }
}
