package dev.sluice.journal;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The records and enums that can be written and read: those that the root types reach through their
 * components and permitted subtypes. A file names types; only types that are listed here are ever
 * made from it.
 */
final class RecordTypes {

  private static final String PROJECT = "dev.sluice.";

  /** What a component holds. The position is part of the format: constants are only appended. */
  enum Kind {
    BOOLEAN,
    INTEGER,
    DOUBLE,
    STRING,
    INSTANT,
    DURATION,
    DECIMAL,
    OPTIONAL,
    OPTIONAL_INT,
    OPTIONAL_LONG,
    OPTIONAL_DOUBLE,
    LIST,
    SET,
    MAP,
    RECORD,
    ENUM;

    /** The number of type arguments. */
    int arguments() {
      return switch (this) {
        case OPTIONAL, LIST, SET -> 1;
        case MAP -> 2;
        default -> 0;
      };
    }
  }

  /**
   * The type of a component, or of what a component contains.
   *
   * @param type the class; {@code Object} where a file is described
   */
  record ValueType(Kind kind, Class<?> type, List<ValueType> arguments) {

    /** Whether values that were written as the other type can be read as this one. */
    boolean reads(ValueType other) {
      if (kind != other.kind) {
        return false;
      }
      for (int i = 0; i < arguments.size(); i++) {
        if (!arguments.get(i).reads(other.arguments.get(i))) {
          return false;
        }
      }
      return true;
    }
  }

  /** A component of a record, with its accessor as a function of the record. */
  record Component(String name, ValueType type, MethodHandle accessor) {

    /** The value of the component. */
    Object of(Record value) {
      try {
        return (Object) accessor.invokeExact(value);
      } catch (RuntimeException | Error e) {
        throw e;
      } catch (Throwable e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /**
   * A record type.
   *
   * @param name the name in files
   * @param constructor the canonical constructor as a function of an array
   */
  record RecordType(
      String name, Class<?> type, List<Component> components, MethodHandle constructor) {

    /** The position of the component with this name; -1 if there is none. */
    int indexOf(String component) {
      for (int i = 0; i < components.size(); i++) {
        if (components.get(i).name().equals(component)) {
          return i;
        }
      }
      return -1;
    }

    /**
     * A record of these values.
     *
     * @throws RuntimeException when the constructor refuses the values
     */
    Record make(@Nullable Object[] values) {
      try {
        return (Record) constructor.invokeExact(values);
      } catch (RuntimeException | Error e) {
        throw e;
      } catch (Throwable e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private final Function<Class<?>, String> naming;
  private final Map<Class<?>, RecordType> byClass = new HashMap<>();
  private final Map<String, RecordType> byName = new HashMap<>();
  private final Map<String, Map<String, Object>> enums = new HashMap<>();

  /** The types that these roots reach. */
  static RecordTypes of(Class<?>... roots) {
    return new RecordTypes(RecordTypes::projectName, roots);
  }

  /**
   * The types that these roots reach, by other names.
   *
   * @throws IllegalArgumentException when a type is reached that the journal can't hold
   */
  RecordTypes(Function<Class<?>, String> naming, Class<?>... roots) {
    this.naming = naming;
    for (Class<?> root : roots) {
      ValueType unused = valueType(root);
    }
  }

  /** Types that moved keep the names that journals have for them. */
  private static final Map<String, String> FORMER_NAMES =
      Map.of(
          "core.model.QueueRules$AttemptBackoff", "core.model.AttemptBackoff",
          "core.model.NodeConstraints$PreferredNodes", "core.model.PreferredNodes");

  private static String projectName(Class<?> type) {
    String name = type.getName();
    String written = name.startsWith(PROJECT) ? name.substring(PROJECT.length()) : name;
    return FORMER_NAMES.getOrDefault(written, written);
  }

  /** The name of a type in files. */
  String name(Class<?> type) {
    return naming.apply(type);
  }

  /**
   * The type of a record that is to be written.
   *
   * @throws IllegalArgumentException when no root reaches the type
   */
  RecordType of(Record value) {
    RecordType type = byClass.get(value.getClass());
    if (type == null) {
      throw new IllegalArgumentException("the journal doesn't know " + value.getClass().getName());
    }
    return type;
  }

  /** The type of the records of a class; null if no root reaches the class. */
  @Nullable RecordType ofClass(Class<?> type) {
    return byClass.get(type);
  }

  /** The record type with this name in files; null if there is none. */
  @Nullable RecordType named(String name) {
    return byName.get(name);
  }

  /** The constant of an enum by their names in files; null if there is none. */
  @Nullable Object constant(String type, String constant) {
    return enums.getOrDefault(type, Map.of()).get(constant);
  }

  /** The known record types. */
  Set<Class<?>> records() {
    return Set.copyOf(byClass.keySet());
  }

  private ValueType valueType(Type type) {
    return switch (type) {
      case Class<?> simple -> simpleType(simple);
      case ParameterizedType generic -> {
        Class<?> raw = (Class<?>) generic.getRawType();
        Kind kind = genericKind(raw);
        List<ValueType> arguments =
            Arrays.stream(generic.getActualTypeArguments()).map(this::valueType).toList();
        yield new ValueType(kind, raw, arguments);
      }
      case WildcardType wildcard -> valueType(wildcard.getUpperBounds()[0]);
      default -> throw new IllegalArgumentException("the journal can't hold " + type);
    };
  }

  private static Kind genericKind(Class<?> raw) {
    if (raw == Optional.class) {
      return Kind.OPTIONAL;
    } else if (raw == List.class) {
      return Kind.LIST;
    } else if (raw == Set.class || raw == SortedSet.class) {
      return Kind.SET;
    } else if (raw == Map.class || raw == SortedMap.class) {
      return Kind.MAP;
    }
    throw new IllegalArgumentException("the journal can't hold " + raw.getName());
  }

  private ValueType simpleType(Class<?> type) {
    Kind kind = SIMPLE.get(type);
    if (kind == null) {
      if (type.isEnum()) {
        kind = Kind.ENUM;
        Map<String, Object> constants = new HashMap<>();
        for (Object each : Objects.requireNonNull(type.getEnumConstants())) {
          constants.put(((Enum<?>) each).name(), each);
        }
        enums.put(name(type), constants);
      } else if (type == Record.class || type.isRecord() || type.isSealed()) {
        kind = Kind.RECORD;
        visit(type);
      } else {
        throw new IllegalArgumentException("the journal can't hold " + type.getName());
      }
    }
    return new ValueType(kind, type, List.of());
  }

  private static final Map<Class<?>, Kind> SIMPLE =
      Map.ofEntries(
          Map.entry(boolean.class, Kind.BOOLEAN),
          Map.entry(Boolean.class, Kind.BOOLEAN),
          Map.entry(short.class, Kind.INTEGER),
          Map.entry(int.class, Kind.INTEGER),
          Map.entry(Integer.class, Kind.INTEGER),
          Map.entry(long.class, Kind.INTEGER),
          Map.entry(Long.class, Kind.INTEGER),
          Map.entry(double.class, Kind.DOUBLE),
          Map.entry(Double.class, Kind.DOUBLE),
          Map.entry(String.class, Kind.STRING),
          Map.entry(Instant.class, Kind.INSTANT),
          Map.entry(Duration.class, Kind.DURATION),
          Map.entry(BigDecimal.class, Kind.DECIMAL),
          Map.entry(OptionalInt.class, Kind.OPTIONAL_INT),
          Map.entry(OptionalLong.class, Kind.OPTIONAL_LONG),
          Map.entry(OptionalDouble.class, Kind.OPTIONAL_DOUBLE));

  private void visit(Class<?> type) {
    if (type.isSealed()) {
      for (Class<?> permitted : type.getPermittedSubclasses()) {
        ValueType unused = valueType(permitted);
      }
    } else if (type.isRecord() && !byClass.containsKey(type)) {
      List<Component> components = new ArrayList<>();
      RecordType record = new RecordType(name(type), type, components, constructor(type));
      byClass.put(type, record);
      byName.put(record.name(), record);
      for (RecordComponent each : Objects.requireNonNull(type.getRecordComponents())) {
        components.add(
            new Component(each.getName(), valueType(each.getGenericType()), accessor(each)));
      }
    }
  }

  private static MethodHandle accessor(RecordComponent component) {
    try {
      Method method = component.getAccessor();
      method.setAccessible(true);
      return MethodHandles.lookup()
          .unreflect(method)
          .asType(MethodType.methodType(Object.class, Record.class));
    } catch (IllegalAccessException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static MethodHandle constructor(Class<?> type) {
    RecordComponent[] components = Objects.requireNonNull(type.getRecordComponents());
    Class<?>[] types =
        Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
    try {
      Constructor<?> constructor = type.getDeclaredConstructor(types);
      constructor.setAccessible(true);
      return MethodHandles.lookup()
          .unreflectConstructor(constructor)
          .asSpreader(Object[].class, types.length)
          .asType(MethodType.methodType(Record.class, Object[].class));
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException(e);
    }
  }
}
