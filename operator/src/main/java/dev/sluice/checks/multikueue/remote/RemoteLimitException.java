package dev.sluice.checks.multikueue.remote;

import java.io.IOException;

/** A worker cluster sends more than is read from one; it is cut off. */
public final class RemoteLimitException extends IOException {

  private static final long serialVersionUID = 1L;

  /** With what exceeded which limit. */
  public RemoteLimitException(String message) {
    super(message);
  }
}
