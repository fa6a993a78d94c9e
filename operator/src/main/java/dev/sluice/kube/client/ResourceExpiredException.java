package dev.sluice.kube.client;

import java.io.IOException;

/** The API server no longer knows what happened since a version: everything must be listed anew. */
public final class ResourceExpiredException extends IOException {

  private static final long serialVersionUID = 1L;

  /** Says what the server said. */
  public ResourceExpiredException(String message) {
    super(message);
  }
}
