package dev.sluice.api.config;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A configuration that can't be used. The message is written for the person who has to mend it: it
 * lists every problem with path, value and what is allowed.
 */
public final class ConfigurationException extends Exception {

  private static final long serialVersionUID = 1L;

  private final transient List<Problem> problems;

  /**
   * The given problems as one failure.
   *
   * @param source what was read, such as a file's path
   * @param problems at least one
   */
  ConfigurationException(String source, List<Problem> problems) {
    super(message(source, problems));
    this.problems = List.copyOf(problems);
  }

  /** Every problem that was found, in the order of the source. */
  public List<Problem> problems() {
    return problems;
  }

  private static String message(String source, List<Problem> problems) {
    String count = problems.size() == 1 ? "1 problem" : problems.size() + " problems";
    return problems.stream()
        .map(problem -> "\n  - " + problem)
        .collect(Collectors.joining("", source + " has " + count + ":", ""));
  }
}
