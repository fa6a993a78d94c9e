package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.sluice.api.json.JsonMappers;

/** Formats a failure for users: one line of bounded length. */
final class FailureText {

  private static final int MAX_LENGTH = 300;

  private FailureText() {}

  /** The message of a failure, unabridged. */
  static String message(Exception failure) {
    return failure.getMessage() == null ? failure.toString() : failure.getMessage();
  }

  /** A shortened message; for a Status that a server returned, only its message field. */
  static String text(String message) {
    String line = withoutStatus(message).replaceAll("[\\s\\p{Cntrl}]+", " ").strip();
    return line.length() <= MAX_LENGTH ? line : line.substring(0, MAX_LENGTH) + "…";
  }

  private static String withoutStatus(String message) {
    int begin = message.indexOf('{');
    if (begin < 0) {
      return message;
    }
    try {
      String statusMessage =
          JsonMappers.JSON.readTree(message.substring(begin)).path("message").asText();
      return statusMessage.isEmpty() ? message : message.substring(0, begin) + statusMessage;
    } catch (JsonProcessingException e) {
      return message;
    }
  }
}
