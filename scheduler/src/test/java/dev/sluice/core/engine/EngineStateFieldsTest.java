package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.topology.TopologyOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Every field that an engine consists of is part of its exported state, or isn't for a reason that
 * is written down in {@code engine-state-fields.txt}: whoever adds a field has to say which.
 */
class EngineStateFieldsTest {

  private static final String CORE = "dev.sluice.core.";

  /** Types of the state as a value, and values that are exported as they are. */
  private static boolean isValue(Class<?> type) {
    return type.isEnum()
        || type.getName().startsWith(CORE + "model.")
        || type.getName().contains("Export")
        || type == EngineState.class
        || type == EngineOptions.class
        || type.getName().startsWith(TopologyOptions.class.getName());
  }

  @Test
  void everyFieldIsExportedOrDerived() throws Exception {
    SortedSet<String> fields = fields();
    SortedSet<String> known = known(fields);
    assertThat(fields.stream().filter(each -> !known.contains(each)))
        .as("neither exported nor listed as derived")
        .isEmpty();
    assertThat(known.stream().filter(each -> !fields.contains(each)))
        .as("listed, but no field of an engine")
        .isEmpty();
  }

  @Test
  void aNewFieldIsFound() {
    SortedSet<String> found = new TreeSet<>();
    addFields(Renewed.class, found, new ArrayDeque<>());
    assertThat(found).containsExactly("EngineStateFieldsTest.Renewed.forgotten");
  }

  /** A type as it is after somebody added a field. */
  private static final class Renewed {
    @SuppressWarnings({"unused", "UnusedVariable"})
    private final Map<String, Long> forgotten = Map.of();
  }

  /** The fields that the table names, each once and with a word on what becomes of them. */
  private static SortedSet<String> known(SortedSet<String> fields) throws Exception {
    SortedSet<String> known = new TreeSet<>();
    URL table = EngineStateFieldsTest.class.getResource("engine-state-fields.txt");
    for (String line : Files.readAllLines(Path.of(Objects.requireNonNull(table).toURI()))) {
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      List<String> cells = Arrays.stream(line.split("\\|", -1)).map(String::strip).toList();
      assertThat(cells).as(line).hasSize(3).doesNotContain("");
      for (String name : cells.get(2).split(" ")) {
        Stream<String> named =
            name.equals("*")
                ? fields.stream().filter(each -> each.matches(cells.get(0) + "\\.\\w+"))
                : Stream.of(cells.get(0) + "." + name);
        assertThat(named.filter(each -> !known.add(each))).as("twice").isEmpty();
      }
    }
    return known;
  }

  /** The fields of all types that can be reached from the engine. */
  private static SortedSet<String> fields() throws Exception {
    List<Class<?>> all = all();
    SortedSet<String> found = new TreeSet<>();
    Set<Class<?>> seen = new HashSet<>();
    Deque<Class<?>> next = new ArrayDeque<>(List.of(Engine.class));
    while (!next.isEmpty()) {
      Class<?> type = next.remove();
      if (!type.getName().startsWith(CORE) || isValue(type) || !seen.add(type)) {
        continue;
      }
      addFields(type, found, next);
      if (type.getSuperclass() != null) {
        next.add(type.getSuperclass());
      }
      all.stream().filter(each -> each != type && type.isAssignableFrom(each)).forEach(next::add);
    }
    return found;
  }

  private static void addFields(Class<?> type, SortedSet<String> found, Deque<Class<?>> next) {
    for (Field field : type.getDeclaredFields()) {
      if (!Modifier.isStatic(field.getModifiers()) && !field.isSynthetic()) {
        String name = type.getName().replaceAll(".*\\.", "").replace('$', '.');
        found.add(name + "." + field.getName());
        add(field.getGenericType(), next);
      }
    }
  }

  private static void add(Type type, Deque<Class<?>> next) {
    switch (type) {
      case Class<?> each when each.isArray() -> add(each.getComponentType(), next);
      case Class<?> each -> next.add(each);
      case ParameterizedType each -> {
        add(each.getRawType(), next);
        Stream.of(each.getActualTypeArguments()).forEach(argument -> add(argument, next));
      }
      case GenericArrayType each -> add(each.getGenericComponentType(), next);
      case WildcardType each -> Stream.of(each.getUpperBounds()).forEach(bound -> add(bound, next));
      default -> {}
    }
  }

  /** All types of the core. */
  private static List<Class<?>> all() throws URISyntaxException, IOException {
    Path root = Path.of(Engine.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    try (Stream<Path> files = Files.walk(root.resolve("dev/sluice/core"))) {
      return files
          .map(file -> root.relativize(file).toString().replace('/', '.'))
          .filter(name -> name.endsWith(".class") && !name.endsWith("package-info.class"))
          .<Class<?>>map(name -> load(name.substring(0, name.length() - ".class".length())))
          .toList();
    }
  }

  private static Class<?> load(String name) {
    try {
      return Class.forName(name, false, EngineStateFieldsTest.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new UncheckedIOException(new IOException(e));
    }
  }
}
