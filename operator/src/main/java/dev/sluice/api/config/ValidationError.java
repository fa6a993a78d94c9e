package dev.sluice.api.config;

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
