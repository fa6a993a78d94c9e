package dev.sluice.kube.client;

import java.io.IOException;

/** A server sends more than it is allowed to. */
public final class AnswerTooLongException extends IOException {

  private static final long serialVersionUID = 1L;

  /** With what is too long, and the limit. */
  public AnswerTooLongException(String message) {
    super(message);
  }
}
