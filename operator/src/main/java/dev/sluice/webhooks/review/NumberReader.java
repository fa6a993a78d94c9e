package dev.sluice.webhooks.review;

import java.util.OptionalInt;

/** Parses integers. */
public final class NumberReader {

  private static final int MAX_LENGTH = 11;

  private NumberReader() {}

  /** The 32-bit integer in the text; empty if the text is none. */
  public static OptionalInt int32(String text) {
    if (text.isEmpty() || text.length() > MAX_LENGTH) {
      return OptionalInt.empty();
    }
    try {
      return OptionalInt.of(Integer.parseInt(text));
    } catch (NumberFormatException notANumber) {
      return OptionalInt.empty();
    }
  }
}
