package dev.sluice.lab.demo;

/** The scenario cannot continue; the message names the condition that was not met. */
public final class ScenarioException extends RuntimeException {

  private static final long serialVersionUID = 1;

  /** With the reason. */
  public ScenarioException(String message) {
    super(message);
  }
}
