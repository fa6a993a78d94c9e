package dev.sluice.api;

import java.util.Optional;
import java.util.Set;

/** Booleans that are written as text, such as in annotations. */
public final class Booleans {

  private static final Set<String> TRUE = Set.of("true", "True", "TRUE", "t", "T", "1");
  private static final Set<String> FALSE = Set.of("false", "False", "FALSE", "f", "F", "0");

  private Booleans() {}

  /** The boolean that a text says, in one of the forms of the API; empty if it says none. */
  public static Optional<Boolean> parse(String text) {
    if (TRUE.contains(text)) {
      return Optional.of(true);
    }
    return FALSE.contains(text) ? Optional.of(false) : Optional.empty();
  }

  /** Whether a text says that something is so. */
  public static boolean isTrue(String text) {
    return TRUE.contains(text);
  }
}
