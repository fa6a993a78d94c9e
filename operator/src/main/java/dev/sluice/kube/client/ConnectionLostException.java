package dev.sluice.kube.client;

import java.io.IOException;

/**
 * A request got no answer because its connection ended: often one that the client kept for later
 * and the server had closed meanwhile.
 */
public final class ConnectionLostException extends IOException {

  private static final long serialVersionUID = 1L;

  ConnectionLostException(String message, Throwable cause) {
    super(message, cause);
  }
}
