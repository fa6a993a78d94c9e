package dev.sluice.server;

import java.io.IOException;

/** A request can't be served because others use what it needs. */
final class OverloadException extends IOException {

  private static final long serialVersionUID = 1L;

  OverloadException(String message) {
    super(message);
  }
}
