package dev.sluice.api.config;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A configuration that can't be used. The message is written for the person who has to mend it: it
 * lists every problem with path, value and what is allowed.
 */
public final class ConfigurationException extends Exception {

  private static final long serialVersionUID = 1L;

  private final transient List<ValidationError> validationErrors;

  /**
   * The given problems as one failure.
   *
   * @param source what was read, such as a file's path
   * @param problems at least one
   */
  ConfigurationException(String source, List<ValidationError> validationErrors) {
    super(message(source, validationErrors));
    this.validationErrors = List.copyOf(validationErrors);
  }

  /** Every problem that was found, in the order of the source. */
  public List<ValidationError> problems() {
    return validationErrors;
  }

  private static String message(String source, List<ValidationError> validationErrors) {
    String count =
        validationErrors.size() == 1 ? "1 problem" : validationErrors.size() + " problems";
    return validationErrors.stream()
        .map(validationError -> "\n  - " + validationError)
        .collect(Collectors.joining("", source + " has " + count + ":", ""));
  }

  /**
   * One thing that is wrong with a configuration.
   *
   * @param path where, such as {@code waitForPodsReady.timeout}
   * @param message what is wrong: the value that was found and what is allowed
   */
  public record ValidationError(String path, String message) {

    @Override
    public String toString() {
      return path.isEmpty() ? message : path + ": " + message;
    }
  }
}
