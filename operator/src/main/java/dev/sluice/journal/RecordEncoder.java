package dev.sluice.journal;

import dev.sluice.journal.RecordTypes.Component;
import dev.sluice.journal.RecordTypes.RecordType;
import dev.sluice.journal.RecordTypes.ValueType;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Encodes trees of records (docs/journal.md#encoding). What was written before is referred to:
 * descriptions of record types, constants, strings and records that occur again. So an encoder
 * belongs to one segment, and its output is decoded in order. Not thread-safe.
 */
final class RecordEncoder {

  /** How many strings, and how many records, can be referred to. A power of two. */
  static final int DICTIONARY = 1 << 16;

  /** How many of these one payload defines; it refers to none that is older than as many. */
  private static final int FRAME_DEFINITIONS = DICTIONARY / 2;

  static final int ROOT = 0;
  static final int DEFINE_TYPE = 1;
  static final int DEFINE_CONSTANT = 2;
  static final int DEFINE_STRING = 3;
  static final int DEFINE_RECORD = 4;

  static final int STRING_UUID = 0;
  static final int STRING_UTF16 = 2;
  static final int STRING_UTF8 = 4;

  private static final int SHORTEST_DEFINITION = 3;
  private static final int LARGEST_KEPT_BUFFER = 1 << 20;

  private final RecordTypes types;
  private final long epochSecond;
  private final boolean canonical;
  private final Map<Class<?>, Integer> typeNumbers = new HashMap<>();
  private final Map<Enum<?>, Integer> constants = new HashMap<>();
  private final Dictionary<String> strings = new Dictionary<>();
  private final Dictionary<Bytes> records = new Dictionary<>();
  private final Map<Class<?>, Repetition> recordRepetitions = new HashMap<>();
  private final Map<Component, Repetition> stringRepetitions = new IdentityHashMap<>();
  private final List<Output> nested = new ArrayList<>();
  private Output definitions = new Output();
  private int depth;

  /**
   * An encoder for one segment.
   *
   * @param epochSecond the second from which times are counted
   */
  RecordEncoder(RecordTypes types, long epochSecond) {
    this(types, epochSecond, false);
  }

  private RecordEncoder(RecordTypes types, long epochSecond, boolean canonical) {
    this.types = types;
    this.epochSecond = epochSecond;
    this.canonical = canonical;
  }

  /**
   * An encoder whose output only serves to compare values: equal content has equal bytes, in
   * whatever order a set or a map iterates.
   */
  static RecordEncoder canonical(RecordTypes types) {
    return new RecordEncoder(types, 0, true);
  }

  /** The bytes of a value without the definitions, for comparison. */
  byte[] comparable(Record value) {
    Output body = new Output();
    record(body, value);
    definitions.size = 0;
    return body.toBytes();
  }

  /**
   * The payload of a value: definitions that it needs, then the value.
   *
   * @throws IllegalArgumentException when the value holds what the journal can't hold
   */
  byte[] encode(Record root) {
    strings.frameStarts();
    records.frameStarts();
    definitions.size = 0;
    depth = 0;
    Output body = nested();
    record(body, root);
    definitions.write(ROOT);
    definitions.write(body);
    depth--;
    byte[] payload = definitions.toBytes();
    if (definitions.bytes.length > LARGEST_KEPT_BUFFER) {
      definitions = new Output();
      nested.clear();
    }
    return payload;
  }

  private Output nested() {
    if (depth == nested.size()) {
      nested.add(new Output());
    }
    Output output = nested.get(depth++);
    output.size = 0;
    return output;
  }

  private void record(Output output, Record value) {
    RecordType type = types.of(value);
    output.varint(typeNumber(type));
    for (Component component : type.components()) {
      value(output, component, component.type(), component.of(value));
    }
  }

  private int typeNumber(RecordType type) {
    Integer known = typeNumbers.get(type.type());
    if (known != null) {
      return known;
    }
    definitions.write(DEFINE_TYPE);
    definitions.text(type.name());
    definitions.varint(type.components().size());
    for (Component component : type.components()) {
      definitions.text(component.name());
      describe(component.type());
    }
    int number = typeNumbers.size();
    typeNumbers.put(type.type(), number);
    return number;
  }

  private void describe(ValueType type) {
    definitions.write(type.kind().ordinal());
    type.arguments().forEach(this::describe);
  }

  private void value(Output output, Component site, ValueType type, @Nullable Object value) {
    if (value == null) {
      throw new IllegalArgumentException("the journal holds no null: " + site.name());
    }
    switch (type.kind()) {
      case BOOLEAN -> output.write((Boolean) value ? 1 : 0);
      case INTEGER -> output.zigzag(((Number) value).longValue());
      case DOUBLE -> output.fixed(Double.doubleToRawLongBits((Double) value));
      case STRING -> string(output, site, (String) value);
      case INSTANT -> {
        Instant instant = (Instant) value;
        time(output, instant.getEpochSecond() - epochSecond, instant.getNano());
      }
      case DURATION -> {
        Duration duration = (Duration) value;
        time(output, duration.getSeconds(), duration.getNano());
      }
      case DECIMAL -> {
        BigDecimal decimal = (BigDecimal) value;
        output.zigzag(decimal.scale());
        byte[] unscaled = decimal.unscaledValue().toByteArray();
        output.varint(unscaled.length);
        output.write(unscaled);
      }
      case OPTIONAL -> {
        Optional<?> optional = (Optional<?>) value;
        output.write(optional.isPresent() ? 1 : 0);
        if (optional.isPresent()) {
          value(output, site, type.arguments().getFirst(), optional.get());
        }
      }
      case OPTIONAL_INT -> {
        OptionalInt optional = (OptionalInt) value;
        output.write(optional.isPresent() ? 1 : 0);
        if (optional.isPresent()) {
          output.zigzag(optional.getAsInt());
        }
      }
      case OPTIONAL_LONG -> {
        OptionalLong optional = (OptionalLong) value;
        output.write(optional.isPresent() ? 1 : 0);
        if (optional.isPresent()) {
          output.zigzag(optional.getAsLong());
        }
      }
      case OPTIONAL_DOUBLE -> {
        OptionalDouble optional = (OptionalDouble) value;
        output.write(optional.isPresent() ? 1 : 0);
        if (optional.isPresent()) {
          output.fixed(Double.doubleToRawLongBits(optional.getAsDouble()));
        }
      }
      case LIST -> {
        List<?> list = (List<?>) value;
        output.varint(list.size());
        for (Object element : list) {
          value(output, site, type.arguments().getFirst(), element);
        }
      }
      case SET -> {
        List<List<?>> elements = new ArrayList<>();
        ((Set<?>) value).forEach(element -> elements.add(List.of(element)));
        all(output, site, type, elements);
      }
      case MAP -> {
        List<List<?>> entries = new ArrayList<>();
        ((Map<?, ?>) value).forEach((key, each) -> entries.add(List.of(key, each)));
        all(output, site, type, entries);
      }
      case ENUM -> output.varint(constant((Enum<?>) value));
      case RECORD -> reference(output, (Record) value);
    }
  }

  /** Elements or entries, in the order as given; sorted by their bytes in a canonical encoding. */
  private void all(Output output, Component site, ValueType type, List<List<?>> rows) {
    output.varint(rows.size());
    List<byte[]> sorted = new ArrayList<>();
    for (List<?> row : rows) {
      Output part = canonical ? new Output() : output;
      for (int i = 0; i < row.size(); i++) {
        value(part, site, type.arguments().get(i), row.get(i));
      }
      if (canonical) {
        sorted.add(part.toBytes());
      }
    }
    sorted.sort(Arrays::compareUnsigned);
    sorted.forEach(output::write);
  }

  /** Seconds with the precision in their last two bits, then the fraction in that precision. */
  private static void time(Output output, long seconds, int nanos) {
    int precision = nanos == 0 ? 0 : nanos % 1_000_000 == 0 ? 1 : nanos % 1_000 == 0 ? 2 : 3;
    output.zigzag(seconds << 2 | precision);
    if (precision > 0) {
      output.varint(nanos / RecordDecoder.PRECISIONS[precision]);
    }
  }

  private int constant(Enum<?> value) {
    Integer known = constants.get(value);
    if (known != null) {
      return known;
    }
    definitions.write(DEFINE_CONSTANT);
    definitions.text(types.name(value.getDeclaringClass()));
    definitions.text(value.name());
    int number = constants.size();
    constants.put(value, number);
    return number;
  }

  private void string(Output output, Component site, String value) {
    Repetition repetition = stringRepetitions.computeIfAbsent(site, it -> new Repetition());
    if (canonical || value.length() < SHORTEST_DEFINITION - 1 || !repetition.isLikely()) {
      text(output, value);
      return;
    }
    int number = strings.numberOf(value);
    repetition.tried(number >= 0);
    if (number < 0 && strings.mayDefine()) {
      definitions.write(DEFINE_STRING);
      text(definitions, value);
      number = strings.define(value);
    }
    if (number < 0) {
      text(output, value);
    } else {
      output.varint((long) number << 1 | 1);
    }
  }

  /** A string as it is: a UUID in 16 bytes, else UTF-8, or UTF-16 where that would lose a char. */
  private static void text(Output output, String value) {
    UUID uuid = uuid(value);
    if (uuid != null) {
      output.varint(STRING_UUID);
      output.fixed(uuid.getMostSignificantBits());
      output.fixed(uuid.getLeastSignificantBits());
      return;
    }
    byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
    if (new String(utf8, StandardCharsets.UTF_8).equals(value)) {
      output.varint(STRING_UTF8 + 2L * utf8.length);
      output.write(utf8);
    } else {
      output.varint(STRING_UTF16);
      output.varint(value.length());
      output.write(chars(value));
    }
  }

  private static byte[] chars(String value) {
    byte[] bytes = new byte[2 * value.length()];
    for (int i = 0; i < value.length(); i++) {
      bytes[2 * i] = (byte) (value.charAt(i) >> 8);
      bytes[2 * i + 1] = (byte) value.charAt(i);
    }
    return bytes;
  }

  private static @Nullable UUID uuid(String value) {
    if (value.length() != 36 || value.charAt(8) != '-' || value.charAt(13) != '-') {
      return null;
    }
    try {
      UUID uuid = UUID.fromString(value);
      return uuid.toString().equals(value) ? uuid : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** A record within another one: as it is, or a reference. */
  private void reference(Output output, Record value) {
    Repetition repetition =
        recordRepetitions.computeIfAbsent(value.getClass(), it -> new Repetition());
    Output body = nested();
    record(body, value);
    depth--;
    int number = -1;
    if (!canonical && body.size >= SHORTEST_DEFINITION && repetition.isLikely()) {
      Bytes bytes = new Bytes(body.toBytes());
      number = records.numberOf(bytes);
      repetition.tried(number >= 0);
      if (number < 0 && records.mayDefine()) {
        definitions.write(DEFINE_RECORD);
        definitions.write(body);
        number = records.define(bytes);
      }
    }
    if (number < 0) {
      output.write(0);
      output.write(body);
    } else {
      output.varint(number + 1L);
    }
  }

  /** Whether values of a place occur again, from those that did so far. */
  private static final class Repetition {

    private static final int LEAST = 64;
    private static final int MOST = 4096;
    private static final int PAUSE = 512;

    private int tries;
    private int hits;
    private int skipped;

    boolean isLikely() {
      if (tries < LEAST || hits * 8 >= tries) {
        return true;
      }
      if (++skipped >= PAUSE) {
        tries = 0;
        hits = 0;
        skipped = 0;
      }
      return false;
    }

    void tried(boolean hit) {
      tries++;
      hits += hit ? 1 : 0;
      if (tries >= MOST) {
        tries /= 2;
        hits /= 2;
      }
    }
  }

  /** Bytes as a key; comparable, so that a map of colliding ones stays fast. */
  private record Bytes(byte[] bytes) implements Comparable<Bytes> {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Bytes(var others) && Arrays.equals(bytes, others);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(bytes);
    }

    @Override
    public int compareTo(Bytes other) {
      return Arrays.compareUnsigned(bytes, other.bytes);
    }
  }

  /** The numbers of what was defined last. */
  private static final class Dictionary<K> {

    private final Map<K, Integer> numbers =
        new LinkedHashMap<>() {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<K, Integer> eldest) {
            return size() > DICTIONARY;
          }
        };

    private int next;
    private int frameStart;

    void frameStarts() {
      frameStart = next;
    }

    /** The number of what can be referred to; -1 for anything else. */
    int numberOf(K key) {
      Integer number = numbers.get(key);
      return number == null || number < frameStart - FRAME_DEFINITIONS ? -1 : number;
    }

    boolean mayDefine() {
      return next - frameStart < FRAME_DEFINITIONS && next < Integer.MAX_VALUE - 1;
    }

    int define(K key) {
      numbers.remove(key);
      numbers.put(key, next);
      return next++;
    }
  }

  /** Bytes that grow. */
  static final class Output {

    private byte[] bytes = new byte[64];
    private int size;

    void write(int value) {
      ensure(1);
      bytes[size++] = (byte) value;
    }

    void write(byte[] more) {
      ensure(more.length);
      System.arraycopy(more, 0, bytes, size, more.length);
      size += more.length;
    }

    private void write(Output other) {
      ensure(other.size);
      System.arraycopy(other.bytes, 0, bytes, size, other.size);
      size += other.size;
    }

    void varint(long value) {
      ensure(10);
      long rest = value;
      while ((rest & ~0x7fL) != 0) {
        bytes[size++] = (byte) (rest | 0x80);
        rest >>>= 7;
      }
      bytes[size++] = (byte) rest;
    }

    void zigzag(long value) {
      varint(value << 1 ^ value >> 63);
    }

    void fixed(long value) {
      for (int shift = 56; shift >= 0; shift -= 8) {
        write((int) (value >> shift));
      }
    }

    void text(String value) {
      byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
      varint(utf8.length);
      write(utf8);
    }

    private void ensure(int more) {
      if (bytes.length - size < more) {
        bytes =
            Arrays.copyOf(
                bytes,
                Math.max(
                    Math.addExact(size, more),
                    (int) Math.min(2L * bytes.length, Integer.MAX_VALUE - 16)));
      }
    }

    byte[] toBytes() {
      return Arrays.copyOf(bytes, size);
    }
  }
}
