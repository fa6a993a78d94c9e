package dev.sluice.kube.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.sluice.core.model.MapCopies;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads values off a JSON stream; null and values of another kind count as absent. */
public final class JsonTokenReader {

  private static final int SECONDS_OF_A_DAY = 86_400;

  private final JsonParser parser;
  private final StringInterner stringInterner;

  public JsonTokenReader(JsonParser parser, StringInterner stringInterner) {
    this.parser = parser;
    this.stringInterner = stringInterner;
  }

  /** Does something with the value of a field; may leave it unread, then it is skipped. */
  @FunctionalInterface
  public interface FieldReader {
    /** The parser stands at the value of the field {@code name}. */
    void read(String name) throws IOException;
  }

  /** Reads one element of a list. */
  @FunctionalInterface
  public interface ElementReader<T> {
    /** The parser stands at the start of the element. */
    T read() throws IOException;
  }

  public JsonParser parser() {
    return parser;
  }

  /** Goes through the fields of the object the parser stands at; anything else is skipped. */
  public void object(FieldReader reader) throws IOException {
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      parser.skipChildren();
      return;
    }
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      JsonToken value = parser.nextToken();
      reader.read(name);
      if (parser.currentToken() == value) {
        parser.skipChildren();
      }
    }
  }

  /** The elements of the list the parser stands at; none if it isn't one. */
  public <T> List<T> list(ElementReader<T> reader) throws IOException {
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      parser.skipChildren();
      return List.of();
    }
    List<T> result = new ArrayList<>(2);
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      result.add(reader.read());
    }
    return List.copyOf(result);
  }

  /** A text that comes often, shared. */
  public String word() throws IOException {
    return parser.currentToken().isScalarValue() && parser.currentToken() != JsonToken.VALUE_NULL
        ? stringInterner.of(parser)
        : "";
  }

  /** A text of its own. */
  public String text() throws IOException {
    return parser.currentToken().isScalarValue() && parser.currentToken() != JsonToken.VALUE_NULL
        ? parser.getText()
        : "";
  }

  /** A whole number; {@code absent} if there is none. */
  public int number(int absent) throws IOException {
    return parser.currentToken() == JsonToken.VALUE_NUMBER_INT
        ? (int) Math.clamp(parser.getValueAsLong(), Integer.MIN_VALUE, Integer.MAX_VALUE)
        : absent;
  }

  /** A whole number; 0 if there is none. */
  public long longNumber() throws IOException {
    return parser.currentToken() == JsonToken.VALUE_NUMBER_INT ? parser.getLongValue() : 0;
  }

  /** A resourceVersion, which is a number in the form of a text; 0 if it is something else. */
  public long version() throws IOException {
    try {
      return Long.parseLong(text());
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /** A point in time; the epoch if there is none. */
  public Instant instant() throws IOException {
    return instant(text());
  }

  /** A map of texts whose keys and values are shared. */
  public Map<String, String> wordMap() throws IOException {
    Map<String, String> result = new HashMap<>();
    object(name -> result.put(name, word()));
    return MapCopies.of(result);
  }

  public static Instant instant(String text) {
    if (text.length() == 20 && text.charAt(19) == 'Z') {
      return Instant.ofEpochSecond(
          daysSinceEpoch(digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2))
                  * SECONDS_OF_A_DAY
              + digits(text, 11, 2) * 3600L
              + digits(text, 14, 2) * 60L
              + digits(text, 17, 2));
    }
    try {
      return text.isEmpty() ? Instant.EPOCH : OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeException e) {
      return Instant.EPOCH;
    }
  }

  private static int digits(String text, int from, int count) {
    int value = 0;
    for (int i = from; i < from + count; i++) {
      value = value * 10 + (text.charAt(i) - '0');
    }
    return value;
  }

  /** Days from 1970-01-01 in the Gregorian calendar, counted from March so that leap days end. */
  private static long daysSinceEpoch(int year, int month, int day) {
    long shifted = month <= 2 ? year - 1L : year;
    long era = Math.floorDiv(shifted, 400L);
    long yearOfEra = shifted - era * 400;
    long dayOfYear = (153L * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    long dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
    return era * 146_097 + dayOfEra - 719_468;
  }

  /**
   * Remembers texts that come again and again (queues, namespaces, reasons, messages), so that each
   * is kept once. It holds a fixed number of them: a newer one may take the place of an older.
   */
  public static final class StringInterner {

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
}
