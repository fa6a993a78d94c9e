package dev.sluice.kube.json;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.util.Arrays;

/**
 * Remembers texts that come again and again (queues, namespaces, reasons, messages), so that each
 * is kept once. It holds a fixed number of them: a newer one may take the place of an older.
 */
public final class StringInterner {

  private static final int SLOTS = 1 << 14;
  private static final int LONGEST = 256;

  /** Strings are immutable, so that a race on a slot costs a copy at most. */
  private final String[] slots = new String[SLOTS];

  public StringInterner() {
    Arrays.fill(slots, "");
  }

  /** The text of the parser's current token. */
  String of(JsonParser parser) throws IOException {
    int length = parser.getTextLength();
    if (length > LONGEST) {
      return parser.getText();
    }
    char[] text = parser.getTextCharacters();
    int offset = parser.getTextOffset();
    int hash = 0;
    for (int i = 0; i < length; i++) {
      hash = 31 * hash + text[offset + i];
    }
    int slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    String known = slots[slot];
    if (intern(known, text, offset, length)) {
      return known;
    }
    String fresh = new String(text, offset, length);
    slots[slot] = fresh;
    return fresh;
  }

  private static boolean intern(String known, char[] text, int offset, int length) {
    if (known.length() != length) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (known.charAt(i) != text[offset + i]) {
        return false;
      }
    }
    return true;
  }
}
