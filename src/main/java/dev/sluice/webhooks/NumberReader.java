package dev.sluice.webhooks;

import java.util.OptionalInt;

/** Whole numbers in text. */
final class NumberReader {

  private static final int MAX_LENGTH = 11;

  private NumberReader() {}

  /** The 32-bit number that the text is; empty when it is none. */
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
