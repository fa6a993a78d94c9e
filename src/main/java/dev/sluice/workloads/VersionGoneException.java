package dev.sluice.workloads;

import java.io.IOException;

/** The API server no longer knows what happened since a version: everything must be listed anew. */
public final class VersionGoneException extends IOException {

  private static final long serialVersionUID = 1L;

  /** Says what the server said. */
  public VersionGoneException(String message) {
    super(message);
  }
}
