package dev.sluice.journal;

import dev.sluice.journal.RecordTypes.Component;
import dev.sluice.journal.RecordTypes.Kind;
import dev.sluice.journal.RecordTypes.RecordType;
import dev.sluice.journal.RecordTypes.ValueType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Decodes what {@link RecordEncoder} wrote, of this version of the program or of another one
 * (docs/journal.md#other-versions). Total: any bytes give a record, a reason why there is none, or
 * {@link MalformedException}; memory is bounded by the length of the bytes. Not thread-safe.
 */
final class RecordDecoder {

  /** Nanoseconds of the units of fractions of a second, by precision. */
  static final int[] PRECISIONS = {0, 1_000_000, 1_000, 1};

  private static final int DEEPEST = 100;

  /** The most values in one record, with those of references counted as often as they occur. */
  private static final long LARGEST = 1L << 27;

  private static final int LONGEST_DECIMAL = 256;
  private static final int LARGEST_SCALE = 1 << 14;
  private static final Kind[] KINDS = Kind.values();
  private static final ValueType[] NO_ARGUMENTS = {};

  /** What a payload holds: a record, or the reason why it can't be read. */
  sealed interface Decoded {
    /** A record. */
    record Value(Record value) implements Decoded {}

    /** Why there is no record: an unknown type, a missing component, a refused value. */
    record Unreadable(String reason) implements Decoded {}
  }

  /** The bytes aren't what an encoder writes; nothing that follows can be decoded. */
  static final class MalformedException extends Exception {
    private static final long serialVersionUID = 1L;

    MalformedException(String message) {
      super(message);
    }
  }

  /**
   * A record type as the file describes it.
   *
   * @param known the type of this program; null if there is none
   * @param names those of the components
   * @param targets the position in the known type of each component; -1 for none
   * @param problem why records of it can't be read; empty if they can
   */
  private record FileType(
      String name,
      List<String> names,
      List<ValueType> components,
      @Nullable RecordType known,
      int[] targets,
      String problem) {}

  /** A constant; null if this program has none of this name. */
  private record Constant(String name, @Nullable Object value) {}

  /** A defined record, with the number of values in it and their depth. */
  private record Defined(Object value, long weight, int depth) {}

  private final RecordTypes types;
  private final long epochSecond;
  private final List<FileType> fileTypes = new ArrayList<>();
  private final List<Constant> constants = new ArrayList<>();
  private final Window<String> strings = new Window<>();
  private final Window<Defined> records = new Window<>();
  private byte[] input = {};
  private int position;
  private int end;
  private long weight;
  private int deepest;

  /** A decoder for one segment, with the second from which its times are counted. */
  RecordDecoder(RecordTypes types, long epochSecond) {
    this.types = types;
    this.epochSecond = epochSecond;
  }

  /**
   * Decodes the next payload of the segment.
   *
   * @throws MalformedException when the bytes aren't a payload
   */
  Decoded decode(byte[] payload) throws MalformedException {
    input = payload;
    position = 0;
    end = payload.length;
    while (true) {
      weight = 0;
      deepest = 0;
      switch (read()) {
        case RecordEncoder.ROOT -> {
          Object value = record(0);
          if (position != end) {
            throw new MalformedException("more bytes than a record has");
          }
          return value instanceof Decoded.Unreadable unreadable
              ? unreadable
              : new Decoded.Value((Record) value);
        }
        case RecordEncoder.DEFINE_TYPE -> fileTypes.add(fileType());
        case RecordEncoder.DEFINE_CONSTANT -> {
          String type = text();
          String name = text();
          constants.add(new Constant(type + "." + name, types.constant(type, name)));
        }
        case RecordEncoder.DEFINE_STRING -> strings.add(string());
        case RecordEncoder.DEFINE_RECORD -> {
          Object value = record(0);
          records.add(new Defined(value, weight, deepest));
        }
        default -> throw new MalformedException("an unknown tag");
      }
    }
  }

  private FileType fileType() throws MalformedException {
    String name = text();
    int count = count();
    RecordType known = types.named(name);
    List<String> names = new ArrayList<>();
    List<ValueType> components = new ArrayList<>();
    int[] targets = new int[count];
    String problem = known == null ? "the type " + name + " is unknown" : "";
    for (int i = 0; i < count; i++) {
      String component = text();
      ValueType type = described(0);
      names.add(component);
      components.add(type);
      targets[i] = known == null ? -1 : known.indexOf(component);
      if (known != null
          && targets[i] >= 0
          && !known.components().get(targets[i]).type().reads(type)) {
        problem = name + "." + component + " has another type";
      }
    }
    return new FileType(name, names, components, known, targets, problem);
  }

  private ValueType described(int depth) throws MalformedException {
    int code = read();
    if (code >= KINDS.length || depth > DEEPEST) {
      throw new MalformedException("an unknown kind of values");
    }
    ValueType[] arguments = NO_ARGUMENTS;
    if (KINDS[code].arguments() > 0) {
      arguments = new ValueType[KINDS[code].arguments()];
      for (int i = 0; i < arguments.length; i++) {
        arguments[i] = described(depth + 1);
      }
    }
    return new ValueType(KINDS[code], Object.class, List.of(arguments));
  }

  /** A record, or why there is none. */
  private Object record(int depth) throws MalformedException {
    count(1, depth);
    int number = index(fileTypes.size());
    FileType type = fileTypes.get(number);
    RecordType known = type.known();
    @Nullable Object[] values = new Object[known == null ? 0 : known.components().size()];
    Map<String, Object> others = new HashMap<>();
    Decoded.Unreadable problem =
        type.problem().isEmpty() ? null : new Decoded.Unreadable(type.problem());
    for (int i = 0; i < type.components().size(); i++) {
      int target = type.targets()[i];
      ValueType wanted = known == null || target < 0 ? null : known.components().get(target).type();
      Object value = value(type.components().get(i), wanted, depth + 1);
      if (target >= 0 && value instanceof Decoded.Unreadable unreadable && problem == null) {
        problem = unreadable;
      } else if (target >= 0) {
        values[target] = value;
      } else if (!(value instanceof Decoded.Unreadable)) {
        others.put(type.names().get(i), value);
      }
    }
    return problem != null || known == null
        ? problem == null ? new Decoded.Unreadable("the type is unknown") : problem
        : made(known, values, others);
  }

  /**
   * A record of the values that the file has.
   *
   * @param others what the file has besides, by component: what was moved to a record within this
   *     one since then is found there
   */
  private Object made(RecordType type, @Nullable Object[] values, Map<String, Object> others) {
    for (int i = 0; i < values.length; i++) {
      if (values[i] == null) {
        Component component = type.components().get(i);
        Object absent =
            component.type().kind() == RecordTypes.Kind.RECORD
                ? moved(component.type(), others)
                : absent(component.type());
        if (absent == null) {
          return new Decoded.Unreadable(type.name() + "." + component.name() + " is missing");
        }
        values[i] = absent;
      }
    }
    try {
      return type.make(values);
    } catch (RuntimeException e) {
      return new Decoded.Unreadable(type.name() + ": " + e);
    }
  }

  /** Whether a record may have nothing in it, such as one of optional values. */
  private boolean mayBeEmpty(RecordType type) {
    for (Component component : type.components()) {
      boolean empty =
          switch (component.type().kind()) {
            case OPTIONAL, OPTIONAL_INT, OPTIONAL_LONG, OPTIONAL_DOUBLE -> true;
            case LIST, SET, MAP, BOOLEAN -> true;
            case RECORD -> {
              RecordType known = types.ofClass(component.type().type());
              yield known != null && mayBeEmpty(known);
            }
            default -> false;
          };
      if (!empty) {
        return false;
      }
    }
    return true;
  }

  /**
   * A record of components that the file has one level above; null if it has none of them, unless
   * the record may have nothing in it.
   */
  private @Nullable Object moved(ValueType type, Map<String, Object> others) {
    RecordType known = types.ofClass(type.type());
    if (known == null) {
      return null;
    }
    @Nullable Object[] values = new Object[known.components().size()];
    boolean isAny = false;
    for (int i = 0; i < values.length; i++) {
      Component component = known.components().get(i);
      Object value = others.get(component.name());
      boolean fits =
          component.type().kind() == RecordTypes.Kind.BOOLEAN
              ? value instanceof Boolean
              : component.type().type().isInstance(value);
      if (fits) {
        values[i] = value;
        isAny = true;
      }
    }
    Object made = isAny || mayBeEmpty(known) ? made(known, values, Map.of()) : null;
    return made instanceof Decoded.Unreadable ? null : made;
  }

  /**
   * The value of a component that the file doesn't have; null if there is no default. That of an
   * enumeration is its first constant, so a component that is added has what was so before there.
   */
  private static @Nullable Object absent(ValueType type) {
    return switch (type.kind()) {
      case BOOLEAN -> false;
      case INTEGER -> integer(0, type);
      case DOUBLE -> 0.0;
      case STRING -> "";
      case OPTIONAL -> Optional.empty();
      case OPTIONAL_INT -> OptionalInt.empty();
      case OPTIONAL_LONG -> OptionalLong.empty();
      case OPTIONAL_DOUBLE -> OptionalDouble.empty();
      case LIST -> List.of();
      case SET -> type.type() == SortedSet.class ? new TreeSet<>() : Set.of();
      case MAP -> type.type() == SortedMap.class ? new TreeMap<>() : Map.of();
      case DURATION -> Duration.ZERO;
      case ENUM -> type.type().getEnumConstants()[0];
      case INSTANT, DECIMAL, RECORD -> null;
    };
  }

  /**
   * A value, or why there is none.
   *
   * @param wanted the type of the component that gets it; null for none
   */
  private Object value(ValueType type, @Nullable ValueType wanted, int depth)
      throws MalformedException {
    count(1, depth);
    return switch (type.kind()) {
      case BOOLEAN -> flag();
      case INTEGER -> integer(zigzag(), wanted);
      case DOUBLE -> Double.longBitsToDouble(fixed());
      case STRING -> string();
      case INSTANT, DURATION -> time(type.kind());
      case DECIMAL -> decimal();
      case OPTIONAL -> {
        if (!flag()) {
          yield Optional.empty();
        }
        Object value = value(type.arguments().getFirst(), argument(wanted, 0), depth + 1);
        yield value instanceof Decoded.Unreadable ? value : Optional.of(value);
      }
      case OPTIONAL_INT -> {
        if (!flag()) {
          yield OptionalInt.empty();
        }
        long value = zigzag();
        yield value == (int) value
            ? OptionalInt.of((int) value)
            : new Decoded.Unreadable("a number is too large");
      }
      case OPTIONAL_LONG -> flag() ? OptionalLong.of(zigzag()) : OptionalLong.empty();
      case OPTIONAL_DOUBLE ->
          flag() ? OptionalDouble.of(Double.longBitsToDouble(fixed())) : OptionalDouble.empty();
      case LIST, SET -> collection(type, wanted, depth);
      case MAP -> map(type, wanted, depth);
      case ENUM -> {
        Constant constant = constants.get(index(constants.size()));
        yield constant.value() == null
            ? new Decoded.Unreadable("the constant " + constant.name() + " is unknown")
            : checked(constant.value(), wanted);
      }
      case RECORD -> checked(reference(depth), wanted);
    };
  }

  private static @Nullable ValueType argument(@Nullable ValueType type, int index) {
    return type == null || index >= type.arguments().size() ? null : type.arguments().get(index);
  }

  private static Object checked(Object value, @Nullable ValueType wanted) {
    return wanted == null || value instanceof Decoded.Unreadable || wanted.type().isInstance(value)
        ? value
        : new Decoded.Unreadable(
            value.getClass().getSimpleName() + " is no " + wanted.type().getSimpleName());
  }

  private static Object integer(long value, @Nullable ValueType wanted) {
    Class<?> type = wanted == null ? long.class : wanted.type();
    if (type == int.class || type == Integer.class) {
      return value == (int) value
          ? (Object) (int) value
          : new Decoded.Unreadable("a number is too large");
    } else if (type == short.class) {
      return value == (short) value
          ? (Object) (short) value
          : new Decoded.Unreadable("a number is too large");
    }
    return value;
  }

  private Object reference(int depth) throws MalformedException {
    long token = varint();
    if (token == 0) {
      return record(depth);
    }
    Defined defined = records.get(token - 1);
    count(defined.weight(), depth + defined.depth());
    return defined.value();
  }

  private Object collection(ValueType type, @Nullable ValueType wanted, int depth)
      throws MalformedException {
    int size = count();
    List<Object> elements = new ArrayList<>(size);
    Decoded.Unreadable problem = null;
    for (int i = 0; i < size; i++) {
      Object element = value(type.arguments().getFirst(), argument(wanted, 0), depth + 1);
      if (element instanceof Decoded.Unreadable unreadable) {
        problem = unreadable;
      }
      elements.add(element);
    }
    if (problem != null || wanted == null) {
      return problem == null ? elements : problem;
    } else if (type.kind() == Kind.LIST) {
      return Collections.unmodifiableList(elements);
    } else if (wanted.type() != SortedSet.class) {
      return Collections.unmodifiableSet(new LinkedHashSet<>(elements));
    }
    try {
      return Collections.unmodifiableSortedSet(new TreeSet<>(elements));
    } catch (ClassCastException e) {
      return new Decoded.Unreadable("elements without an order");
    }
  }

  private Object map(ValueType type, @Nullable ValueType wanted, int depth)
      throws MalformedException {
    int size = count();
    Map<Object, Object> entries = new LinkedHashMap<>();
    Decoded.Unreadable problem = null;
    for (int i = 0; i < size; i++) {
      Object key = value(type.arguments().getFirst(), argument(wanted, 0), depth + 1);
      Object value = value(type.arguments().get(1), argument(wanted, 1), depth + 1);
      if (key instanceof Decoded.Unreadable unreadable) {
        problem = unreadable;
      } else if (value instanceof Decoded.Unreadable unreadable) {
        problem = unreadable;
      } else if (wanted != null) {
        entries.put(key, value);
      }
    }
    if (problem != null) {
      return problem;
    } else if (wanted == null || wanted.type() != SortedMap.class) {
      return Collections.unmodifiableMap(entries);
    }
    try {
      return Collections.unmodifiableSortedMap(new TreeMap<>(entries));
    } catch (ClassCastException e) {
      return new Decoded.Unreadable("keys without an order");
    }
  }

  private Object time(Kind kind) throws MalformedException {
    long packed = zigzag();
    int precision = (int) (packed & 3);
    long fraction = precision == 0 ? 0 : varint();
    if (fraction < 0 || fraction >= 1_000_000_000) {
      throw new MalformedException("a time with too large a fraction");
    }
    long nanos = fraction * PRECISIONS[precision];
    try {
      return kind == Kind.DURATION
          ? Duration.ofSeconds(packed >> 2, nanos)
          : Instant.ofEpochSecond(Math.addExact(packed >> 2, epochSecond), nanos);
    } catch (DateTimeException | ArithmeticException e) {
      return new Decoded.Unreadable("a time out of range");
    }
  }

  private Object decimal() throws MalformedException {
    long scale = zigzag();
    byte[] unscaled = bytes(count());
    if (unscaled.length == 0
        || unscaled.length > LONGEST_DECIMAL
        || Math.abs(scale) > LARGEST_SCALE) {
      return new Decoded.Unreadable("a decimal number out of range");
    }
    return new BigDecimal(new BigInteger(unscaled), (int) scale);
  }

  private String string() throws MalformedException {
    long token = varint();
    if ((token & 1) != 0) {
      return strings.get(token >>> 1);
    } else if (token == RecordEncoder.STRING_UUID) {
      return new UUID(fixed(), fixed()).toString();
    } else if (token == RecordEncoder.STRING_UTF16) {
      byte[] chars = bytes(Math.multiplyExact(2L, count()));
      StringBuilder text = new StringBuilder(chars.length / 2);
      for (int i = 0; i < chars.length; i += 2) {
        text.append((char) (chars[i] << 8 | (chars[i + 1] & 0xff)));
      }
      return text.toString();
    }
    return new String(bytes((token - RecordEncoder.STRING_UTF8) >>> 1), StandardCharsets.UTF_8);
  }

  private String text() throws MalformedException {
    return new String(bytes(count()), StandardCharsets.UTF_8);
  }

  private boolean flag() throws MalformedException {
    int flag = read();
    if (flag > 1) {
      throw new MalformedException("a flag that is neither 0 nor 1");
    }
    return flag == 1;
  }

  private int read() throws MalformedException {
    if (position >= end) {
      throw new MalformedException("too few bytes");
    }
    return input[position++] & 0xff;
  }

  private byte[] bytes(long length) throws MalformedException {
    if (length < 0 || length > end - position) {
      throw new MalformedException("too few bytes");
    }
    byte[] bytes = Arrays.copyOfRange(input, position, position + (int) length);
    position += (int) length;
    return bytes;
  }

  /** A number of things that follow, each in a byte at least. */
  private int count() throws MalformedException {
    long count = varint();
    if (count < 0 || count > end - position) {
      throw new MalformedException("too few bytes");
    }
    return (int) count;
  }

  private int index(int size) throws MalformedException {
    long index = varint();
    if (index < 0 || index >= size) {
      throw new MalformedException("a reference to nothing");
    }
    return (int) index;
  }

  private void count(long values, int depth) throws MalformedException {
    weight += values;
    deepest = Math.max(deepest, depth);
    if (weight > LARGEST || depth > DEEPEST) {
      throw new MalformedException("too many values");
    }
  }

  private long varint() throws MalformedException {
    long value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      int next = read();
      value |= (long) (next & 0x7f) << shift;
      if (next < 0x80) {
        return value;
      }
    }
    throw new MalformedException("a number of too many bytes");
  }

  private long zigzag() throws MalformedException {
    long value = varint();
    return value >>> 1 ^ -(value & 1);
  }

  private long fixed() throws MalformedException {
    long value = 0;
    for (int i = 0; i < 8; i++) {
      value = value << 8 | read();
    }
    return value;
  }

  /** What was defined last, by number. */
  private static final class Window<T> {

    private final List<T> last = new ArrayList<>();
    private long next;

    void add(T value) {
      if (last.size() < RecordEncoder.DICTIONARY) {
        last.add(value);
      } else {
        last.set((int) (next % RecordEncoder.DICTIONARY), value);
      }
      next++;
    }

    T get(long number) throws MalformedException {
      if (number < 0 || number >= next || number < next - RecordEncoder.DICTIONARY) {
        throw new MalformedException("a reference to nothing");
      }
      return last.get((int) (number % RecordEncoder.DICTIONARY));
    }
  }
}
