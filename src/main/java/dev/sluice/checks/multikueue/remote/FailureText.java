package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;

/** What a failure says to people: one line of bounded length. */
final class FailureText {

  private static final int LONGEST = 300;

  private FailureText() {}

  /** The message of a failure, as it is. */
  static String message(Exception failure) {
    return failure.getMessage() == null ? failure.toString() : failure.getMessage();
  }

  /** A message in short; of a Status that a server answered with, only its message. */
  static String text(String message) {
    String line = withoutStatus(message).replaceAll("\\s+", " ").strip();
    return line.length() <= LONGEST ? line : line.substring(0, LONGEST) + "…";
  }

  private static String withoutStatus(String message) {
    int begin = message.indexOf('{');
    if (begin < 0) {
      return message;
    }
    try {
      String said = new ObjectMapper().readTree(message.substring(begin)).path("message").asText();
      return said.isEmpty() ? message : message.substring(0, begin) + said;
    } catch (JsonProcessingException e) {
      return message;
    }
  }
}
