package dev.sluice.webhooks;

import java.util.OptionalInt;

/** Parses integers. */
final class NumberReader {

  private static final int MAX_LENGTH = 11;

  private NumberReader() {}

  /** The 32-bit integer in the text; empty if the text is none. */
  static OptionalInt int32(String text) {
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
