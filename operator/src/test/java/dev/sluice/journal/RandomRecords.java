package dev.sluice.journal;

import dev.sluice.journal.RecordTypes.RecordType;
import dev.sluice.journal.RecordTypes.ValueType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/** Makes up records of any type, as its constructor allows; the same seed makes up the same. */
final class RandomRecords {

  private static final int TRIES = 200;

  private final RecordTypes types;
  private final Random random;
  private final List<Object> made = new ArrayList<>();

  RandomRecords(RecordTypes types, long seed) {
    this.types = types;
    this.random = new Random(seed);
  }

  /** A record of this type. */
  Record of(Class<?> type) {
    return (Record) value(new ValueType(RecordTypes.Kind.RECORD, type, List.of()), 0);
  }

  private Record record(Class<?> type, int depth) {
    for (Object each : made) {
      if (type.isInstance(each) && random.nextInt(4) == 0) {
        return (Record) each;
      }
    }
    RecordType record = known(type);
    RuntimeException refused = null;
    for (int i = 0; i < TRIES; i++) {
      Object[] values =
          record.components().stream().map(it -> value(it.type(), depth + 1)).toArray();
      try {
        Record value = record.make(values);
        if (made.size() < 50) {
          made.add(value);
        }
        return value;
      } catch (RuntimeException e) {
        refused = e;
      }
    }
    throw new IllegalStateException(type.getName(), refused);
  }

  private RecordType known(Class<?> type) {
    return types.records().stream()
        .filter(type::equals)
        .findFirst()
        .map(it -> Objects.requireNonNull(types.named(types.name(it))))
        .orElseThrow(() -> new AssertionError(type));
  }

  private Object value(ValueType type, int depth) {
    return switch (type.kind()) {
      case BOOLEAN -> random.nextBoolean();
      case INTEGER -> integer(type.type());
      case DOUBLE -> random.nextInt(9) == 0 ? Double.NaN : random.nextGaussian();
      case STRING -> string();
      case INSTANT ->
          switch (random.nextInt(5)) {
            case 0 -> Instant.MIN;
            case 1 -> Instant.MAX;
            case 2 -> Instant.ofEpochSecond(random.nextInt());
            case 3 -> Instant.ofEpochMilli(random.nextLong(1L << 45));
            default -> Instant.ofEpochSecond(random.nextInt(), random.nextInt(1_000_000_000));
          };
      case DURATION -> Duration.ofSeconds(random.nextInt(), random.nextInt(1_000_000_000));
      case DECIMAL -> new BigDecimal(new BigInteger(80, random), random.nextInt(20));
      case OPTIONAL ->
          random.nextBoolean() || depth > 8
              ? Optional.empty()
              : Optional.of(value(type.arguments().getFirst(), depth + 1));
      case OPTIONAL_INT ->
          random.nextBoolean() ? OptionalInt.empty() : OptionalInt.of(random.nextInt());
      case OPTIONAL_LONG ->
          random.nextBoolean() ? OptionalLong.empty() : OptionalLong.of(random.nextLong());
      case OPTIONAL_DOUBLE ->
          random.nextBoolean() ? OptionalDouble.empty() : OptionalDouble.of(random.nextDouble());
      case LIST -> several(type, depth);
      case SET ->
          type.type() == SortedSet.class
              ? new TreeSet<>(several(type, depth))
              : new LinkedHashSet<>(several(type, depth));
      case MAP -> map(type, depth);
      case ENUM -> {
        Object[] constants = Objects.requireNonNull(type.type().getEnumConstants());
        yield constants[random.nextInt(constants.length)];
      }
      case RECORD -> record(concrete(type.type()), depth);
    };
  }

  private Class<?> concrete(Class<?> type) {
    Class<?> chosen = type;
    while (chosen.isSealed()) {
      Class<?>[] permitted = chosen.getPermittedSubclasses();
      chosen = permitted[random.nextInt(permitted.length)];
    }
    return chosen;
  }

  private List<Object> several(ValueType type, int depth) {
    List<Object> values = new ArrayList<>();
    int count = depth > 8 ? 0 : random.nextInt(4);
    for (int i = 0; i < count; i++) {
      values.add(value(type.arguments().getFirst(), depth + 1));
    }
    return values;
  }

  private Map<Object, Object> map(ValueType type, int depth) {
    Map<Object, Object> map =
        type.type() == SortedMap.class ? new TreeMap<>() : new LinkedHashMap<>();
    int count = depth > 8 ? 0 : random.nextInt(4);
    for (int i = 0; i < count; i++) {
      map.put(
          value(type.arguments().getFirst(), depth + 1), value(type.arguments().get(1), depth + 1));
    }
    return map;
  }

  private Object integer(Class<?> type) {
    long value = random.nextBoolean() ? random.nextInt(100) : random.nextLong();
    if (type == int.class || type == Integer.class) {
      return (int) value;
    }
    return type == short.class ? (Object) (short) value : (Object) value;
  }

  private String string() {
    return switch (random.nextInt(8)) {
      case 0 -> "";
      case 1 -> new UUID(random.nextLong(), random.nextLong()).toString();
      case 2 -> "\ud800lone" + random.nextInt(3);
      case 3 -> "größe\uD83D\uDE00" + random.nextInt(3);
      case 4 -> "x".repeat(random.nextInt(300));
      default -> "name-" + random.nextInt(20);
    };
  }
}
