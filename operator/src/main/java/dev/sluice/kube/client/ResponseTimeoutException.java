package dev.sluice.kube.client;

import java.io.IOException;

/** No answer came in time: whoever asks again may wait longer. */
public final class ResponseTimeoutException extends IOException {

  private static final long serialVersionUID = 1L;

  /** Says for what was waited. */
  public ResponseTimeoutException(String message) {
    super(message);
  }

  /** Says how long was waited, and for what. */
  public ResponseTimeoutException(String message, Throwable cause) {
    super(message, cause);
  }
}
