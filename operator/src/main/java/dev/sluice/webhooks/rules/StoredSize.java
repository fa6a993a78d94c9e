package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.Map;

/** How many bytes objects take where the API server stores them: never less than that. */
public final class StoredSize {

  /** The bytes of a character that is escaped, as the API server escapes "<" and most others. */
  private static final int ESCAPED = 6;

  /** Quotes, colon and comma of a field, and brackets. */
  private static final int AROUND = 6;

  /** The bytes that a field or an item has besides where it is noted who wrote it. */
  private static final int NOTED = 18;

  private StoredSize() {}

  /** The bytes of a value. */
  public static long of(JsonNode value) {
    return of(value, 0, false);
  }

  /**
   * The bytes of a value that is part of a custom resource, together with the notes about who wrote
   * which field of it: these have each name again, and what tells items of a list apart.
   */
  public static long withNotes(JsonNode value) {
    return of(value, 1, false);
  }

  private static long of(JsonNode value, int notes, boolean item) {
    if (value.isValueNode()) {
      return AROUND + of(value.asText());
    }
    long bytes = AROUND;
    for (JsonNode each : value.isArray() ? value : MissingNode.getInstance()) {
      bytes += NOTED * notes + of(each, notes, true);
    }
    for (Map.Entry<String, JsonNode> field : value.properties()) {
      bytes += (1 + notes) * of(field.getKey()) + AROUND + NOTED * notes;
      bytes += of(field.getValue(), notes, false);
      if (item && field.getValue().isValueNode() && !field.getKey().equals("value")) {
        bytes += notes * (NOTED + of(field.getKey()) + of(field.getValue().asText()));
      }
    }
    return bytes;
  }

  /** The bytes of a text, without quotes. */
  public static long of(String text) {
    return text.chars().mapToLong(each -> isPlain(each) ? 1 : ESCAPED).sum();
  }

  private static boolean isPlain(int character) {
    return character >= ' ' && character < 0x7f && "<>&\"\\".indexOf(character) < 0;
  }
}
