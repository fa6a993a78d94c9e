package dev.sluice.jobs.kind;

/**
 * A job can't be started, now or later: its pod template and what it was admitted with contradict
 * each other. The message names the field and both values.
 */
public final class StartConflictException extends Exception {

  private static final long serialVersionUID = 1L;

  private final String conflict;

  /** With a message for people. */
  public StartConflictException(String conflict) {
    super(conflict);
    this.conflict = conflict;
  }

  /** The message. */
  public String conflict() {
    return conflict;
  }
}
