package dev.sluice.parity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import dev.sluice.architecture.ProjectClasses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Which rooms of the program use a field of a kind. A field of a kind with types is used where its
 * accessor is called, and one of a status also where an object that has it is made; of a Workload,
 * which has no types, where the field's name is written. Fields of a type that isn't ours share the
 * uses of the type.
 */
final class FieldUses {

  private static final Path SCHEMAS = Path.of("crds");

  private static final List<String> TYPES =
      List.of("dev.sluice.api.v1beta2", "dev.sluice.api.v1alpha1");

  private static final Set<String> OUTSIDE = Set.of("api", "lab");

  private final Map<String, SortedSet<String>> callers = new HashMap<>();
  private final Map<String, String> sources = ParityFiles.sources();

  FieldUses() {
    for (JavaClass type : ProjectClasses.ALL) {
      String room = type.getPackageName().replaceFirst("dev\\.sluice\\.?", "").split("\\.")[0];
      if (!OUTSIDE.contains(room) && !room.isEmpty()) {
        for (JavaCodeUnit unit : type.getCodeUnits()) {
          Stream.concat(
                  unit.getCallsFromSelf().stream().map(call -> call.getTarget()),
                  unit.getCodeUnitReferencesFromSelf().stream()
                      .map(reference -> reference.getTarget()))
              .filter(target -> TYPES.contains(target.getOwner().getPackageName()))
              .forEach(
                  target ->
                      callers
                          .computeIfAbsent(
                              target.getOwner().getName() + "#" + target.getName(),
                              key -> new TreeSet<>())
                          .add(room));
        }
      }
    }
  }

  /** The fields of the kind's schema of a version, metadata aside. */
  static SortedSet<String> schema(String kind, String version) {
    try (Stream<Path> files = Files.list(SCHEMAS)) {
      SortedSet<String> fields = new TreeSet<>();
      for (Path file : files.toList()) {
        JsonNode definition = new YAMLMapper().readTree(file.toFile());
        if (definition.at("/spec/names/kind").asText().equals(kind)) {
          for (JsonNode served : definition.at("/spec/versions")) {
            if (served.path("name").asText().equals(version)) {
              walk(served.at("/schema/openAPIV3Schema"), "", fields);
            }
          }
        }
      }
      return fields;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The fields of the version that is stored: a kind that is alpha has that one only. */
  static SortedSet<String> stored(String kind) {
    SortedSet<String> fields = schema(kind, "v1beta2");
    return fields.isEmpty() ? schema(kind, "v1alpha1") : fields;
  }

  private static void walk(JsonNode schema, String path, Set<String> fields) {
    schema
        .path("properties")
        .properties()
        .forEach(
            property -> {
              String name = property.getKey();
              if (path.isEmpty() && Set.of("apiVersion", "kind", "metadata").contains(name)) {
                return;
              }
              String field = path.isEmpty() ? name : path + "." + name;
              fields.add(field);
              if (!name.equals("conditions")) {
                walk(property.getValue(), field, fields);
              }
            });
    if (schema.has("items")) {
      walk(schema.path("items"), path + "[]", fields);
    }
  }

  /** The rooms that use the field, in the order of their names. */
  SortedSet<String> rooms(String kind, String field) {
    List<String> names = Arrays.asList(field.replace("[]", "").split("\\."));
    Optional<Class<?>> type = kindType(kind);
    return type.isEmpty()
        ? written(names.getLast())
        : new TreeSet<>(called(type.get(), names, names.getFirst().equals("status"), Set.of()));
  }

  private static Optional<Class<?>> kindType(String kind) {
    return TYPES.stream().flatMap(types -> type(types + "." + kind).stream()).findFirst();
  }

  private static Optional<Class<?>> type(String name) {
    try {
      return Optional.of(Class.forName(name));
    } catch (ClassNotFoundException e) {
      return Optional.empty();
    }
  }

  private SortedSet<String> written(String name) {
    Pattern literal = Pattern.compile("\"([^\"\n]*[/.])?" + name + "([/.\\[][^\"\n]*)?\"");
    SortedSet<String> rooms = new TreeSet<>();
    sources.forEach(
        (file, text) -> {
          if (!OUTSIDE.contains(ParityFiles.room(file)) && literal.matcher(text).find()) {
            rooms.add(ParityFiles.room(file));
          }
        });
    return rooms;
  }

  private Set<String> called(
      Class<?> owner, List<String> names, boolean status, Set<String> above) {
    if (names.isEmpty() || !TYPES.contains(owner.getPackageName())) {
      return above;
    }
    Optional<Type> type = member(owner, names.getFirst());
    if (type.isEmpty()) {
      return Set.of();
    }
    SortedSet<String> rooms = new TreeSet<>();
    rooms.addAll(callers(owner, names.getFirst()));
    if (owner.isRecord() && status) {
      rooms.addAll(callers(owner, "<init>"));
    } else if (!owner.isRecord()) {
      String name = names.getFirst();
      rooms.addAll(
          callers(
              owner, "get" + name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1)));
    }
    return called(plain(type.get()), names.subList(1, names.size()), status, rooms);
  }

  private Set<String> callers(Class<?> owner, String method) {
    return callers.getOrDefault(owner.getName() + "#" + method, new TreeSet<>());
  }

  /** The type of a component, or of the spec or status of a kind. */
  private static Optional<Type> member(Class<?> owner, String name) {
    if (owner.isRecord()) {
      return Arrays.stream(owner.getRecordComponents())
          .filter(component -> component.getName().equals(name))
          .map(RecordComponent::getGenericType)
          .findFirst();
    }
    if (owner.getGenericSuperclass() instanceof ParameterizedType parent
        && Set.of("spec", "status").contains(name)) {
      return Optional.of(parent.getActualTypeArguments()[name.equals("spec") ? 0 : 1]);
    }
    return Arrays.stream(owner.getDeclaredMethods())
        .filter(method -> method.getName().equalsIgnoreCase("get" + name))
        .map(Method::getGenericReturnType)
        .findFirst();
  }

  /** The class behind lists and maps. */
  private static Class<?> plain(Type type) {
    if (type instanceof ParameterizedType parameterized) {
      Type[] arguments = parameterized.getActualTypeArguments();
      return plain(arguments[arguments.length - 1]);
    }
    return (Class<?>) type;
  }
}
