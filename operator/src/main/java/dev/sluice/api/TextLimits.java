package dev.sluice.api;

import java.util.List;
import java.util.Optional;

/**
 * How long a text of a user may be that is taken apart: a list, an expression or a document in an
 * annotation. Webhooks refuse a longer one, and readers of what is stored don't parse it, so that
 * its cost is that of its length once.
 */
public final class TextLimits {

  /**
   * The most characters of a list, an expression or a document. A list of 64 names of the greatest
   * length has as many.
   */
  public static final int MOST = 4096;

  private TextLimits() {}

  /** Whether a text is short enough to be parsed. */
  public static boolean fits(String text) {
    return text.length() <= MOST;
  }

  /** What is wrong with the length of a text, and what is allowed; empty if it may be parsed. */
  public static Optional<String> fault(String text) {
    return fits(text)
        ? Optional.empty()
        : Optional.of(
            "must have at most " + MOST + " characters, it has " + text.length() + " of them");
  }

  /**
   * The items of a list whose separator is a comma. A text that is too long is not taken apart: it
   * is one item, which no rule allows.
   */
  public static List<String> items(String text) {
    return fits(text) ? List.of(text.split(",", -1)) : List.of(text);
  }

  /** The beginning of a text, for people, and how long the whole is if that is more. */
  public static String shown(String text, int most) {
    return text.length() <= most
        ? text
        : text.substring(0, most) + "… (" + text.length() + " characters)";
  }
}
