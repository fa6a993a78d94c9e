package dev.sluice.server.http;

import java.io.IOException;

/** Thrown when a request cannot be served because other requests use the resources. */
final class OverloadException extends IOException {

  private static final long serialVersionUID = 1L;

  OverloadException(String message) {
    super(message);
  }
}
