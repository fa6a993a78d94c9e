package dev.sluice.api.config;

import dev.sluice.api.config.ConfigurationException.ValidationError;
import java.util.ArrayList;
import java.util.List;

/** Collects what is wrong while a configuration is read, so that all of it is told at once. */
final class ValidationErrors {

  private final List<ValidationError> found = new ArrayList<>();

  /** Notes a problem at a path. */
  void add(String path, String message) {
    found.add(new ValidationError(path, message));
  }

  /** Notes a value that breaks a rule. */
  void value(String path, Object value, String allowed) {
    String shown = value instanceof String text ? '"' + text + '"' : String.valueOf(value);
    add(path, shown + " is not allowed; allowed: " + allowed);
  }

  /** Notes {@code value} unless it keeps the rule. */
  void check(boolean kept, String path, Object value, String allowed) {
    if (!kept) {
      value(path, value, allowed);
    }
  }

  /** Everything that was noted, in the order in which it was found. */
  List<ValidationError> all() {
    return List.copyOf(found);
  }
}
