package dev.sluice.api.crd;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.Quantity;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The types of the stored version say what the definitions say: names, fields, types, choices and
 * what may be absent, in both directions.
 */
class ApiTypesTest {

  private static final String VERSION = "v1beta2";
  private static final String PACKAGE = "dev.sluice.api." + VERSION;
  private static final Set<String> OF_EVERY_KIND = Set.of("apiVersion", "kind", "metadata");

  private final ObjectMapper mapper = new ObjectMapper();

  @ParameterizedTest
  @MethodSource("kinds")
  void aTypeIsNamedAsInItsDefinition(Class<? extends HasMetadata> type) {
    JsonNode spec = definition(type).path("spec");

    assertThat(HasMetadata.getApiVersion(type))
        .isEqualTo(spec.path("group").asText() + "/" + VERSION);
    assertThat(HasMetadata.getPlural(type)).isEqualTo(spec.at("/names/plural").asText());
    assertThat(HasMetadata.getSingular(type)).isEqualTo(spec.at("/names/singular").asText());
    assertThat(Namespaced.class.isAssignableFrom(type))
        .isEqualTo(spec.path("scope").asText().equals("Namespaced"));
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void aTypeHasTheFieldsOfItsSchema(Class<? extends HasMetadata> type) {
    assertThat(problems(type, schema(type))).isEmpty();
  }

  @Test
  void everyTypeIsPartOfAKind() throws IOException {
    Set<Class<?>> reached = new HashSet<>();
    kinds().forEach(kind -> reach(mapper.constructType(kind), reached));

    assertThat(types().filter(type -> !Modifier.isAbstract(type.getModifiers())))
        .filteredOn(type -> type.isRecord() || type.isEnum() || isKind(type))
        .allSatisfy(type -> assertThat(reached).contains(type));
  }

  private record Planted(String name, @Nullable String elsewhere) {}

  private record Absent(@Nullable String name) {}

  private record Retyped(Integer name) {}

  private record Demanded(String name, String note) {}

  private enum Choice {
    Here,
    There
  }

  private record Chosen(Choice name) {}

  @Test
  void whatDiffersIsNamed() throws IOException {
    JsonNode schema =
        new ObjectMapper()
            .readTree(
                """
                {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
                """);
    JsonNode more =
        new ObjectMapper()
            .readTree(
                """
                {"type": "object", "required": ["name"], "properties":
                  {"name": {"type": "string", "enum": ["Here"]}, "note": {"type": "string"}}}
                """);

    assertThat(problems(Planted.class, schema)).containsExactly("elsewhere: not in the schema");
    assertThat(problems(Absent.class, schema)).isEmpty();
    assertThat(problems(Retyped.class, schema))
        .containsExactly("name: Integer is not of type string");
    assertThat(problems(Demanded.class, more))
        .containsExactly("note: may be absent, but is not nullable");
    assertThat(problems(Chosen.class, more))
        .containsExactly(
            "name: choices are [Here, There], in the schema [Here]", "note: not in the type");
  }

  private List<String> problems(Class<?> type, JsonNode schema) {
    List<String> problems = new ArrayList<>();
    compare(mapper.constructType(type), schema, "", problems);
    return problems;
  }

  private void compare(JavaType type, JsonNode schema, String path, List<String> problems) {
    Class<?> raw = type.getRawClass();
    String expected = expected(raw);
    boolean fits =
        raw == Quantity.class
            ? schema.path("x-kubernetes-int-or-string").asBoolean()
            : expected.equals(schema.path("type").asText())
                && (!expected.equals("integer")
                    || schema
                        .path("format")
                        .asText()
                        .equals(raw == Long.class ? "int64" : "int32"));
    if (!fits) {
      problems.add(
          "%s: %s is not of type %s"
              .formatted(path, raw.getSimpleName(), schema.path("type").asText()));
    } else if (raw.isEnum()) {
      choices(raw, schema, path, problems);
    } else if (type.isMapLikeType()) {
      compare(type.getContentType(), schema.path("additionalProperties"), path + ".{}", problems);
    } else if (type.isCollectionLikeType()) {
      compare(type.getContentType(), schema.path("items"), path + "[]", problems);
    } else if (expected.equals("object")) {
      fields(type, schema, path, problems);
    }
  }

  private static String expected(Class<?> raw) {
    if (raw == String.class || raw.isEnum()) {
      return "string";
    }
    if (raw == Integer.class || raw == int.class || raw == Long.class || raw == long.class) {
      return "integer";
    }
    if (raw == Boolean.class || raw == boolean.class) {
      return "boolean";
    }
    return List.class.isAssignableFrom(raw) ? "array" : "object";
  }

  private void choices(Class<?> type, JsonNode schema, String path, List<String> problems) {
    Set<String> ours =
        Arrays.stream(type.getEnumConstants())
            .map(each -> mapper.valueToTree(each).asText())
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> theirs =
        schema
            .path("enum")
            .valueStream()
            .map(JsonNode::asText)
            .collect(Collectors.toCollection(TreeSet::new));
    if (!ours.equals(theirs)) {
      problems.add("%s: choices are %s, in the schema %s".formatted(path, ours, theirs));
    }
  }

  private void fields(JavaType type, JsonNode schema, String path, List<String> problems) {
    Map<String, JavaType> fields = fields(type);
    JsonNode properties = schema.path("properties");
    fields.forEach(
        (name, field) -> {
          String below = path.isEmpty() ? name : path + "." + name;
          if (path.isEmpty() && OF_EVERY_KIND.contains(name) && isKind(type.getRawClass())) {
            return;
          }
          if (properties.has(name)) {
            compare(field, properties.get(name), below, problems);
          } else if (type.getRawClass().isRecord() || isKind(type.getRawClass())) {
            problems.add(below + ": not in the schema");
          }
        });
    for (var property : properties.properties()) {
      if (!fields.containsKey(property.getKey())) {
        problems.add(join(path, property.getKey()) + ": not in the type");
      }
    }
    if (type.getRawClass().isRecord()) {
      absent(type.getRawClass(), schema, path, problems);
    }
  }

  private static void absent(Class<?> type, JsonNode schema, String path, List<String> problems) {
    Set<String> required =
        schema.path("required").valueStream().map(JsonNode::asText).collect(Collectors.toSet());
    for (RecordComponent component : type.getRecordComponents()) {
      JsonNode property = schema.path("properties").path(component.getName());
      boolean there =
          property.isMissingNode()
              || required.contains(component.getName())
              || property.has("default")
              || List.class.equals(component.getType())
              || Map.class.equals(component.getType());
      if (!there && !component.getAnnotatedType().isAnnotationPresent(Nullable.class)) {
        problems.add(join(path, component.getName()) + ": may be absent, but is not nullable");
      }
    }
  }

  private static String join(String path, String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  /** The fields that Jackson reads and writes, without those of type Void. */
  private Map<String, JavaType> fields(JavaType type) {
    return mapper.getSerializationConfig().introspect(type).findProperties().stream()
        .filter(property -> property.couldDeserialize())
        .filter(property -> property.getPrimaryType().getRawClass() != Void.class)
        .filter(property -> !property.getName().equals("additionalProperties"))
        .collect(Collectors.toMap(p -> p.getName(), p -> p.getPrimaryType()));
  }

  private void reach(JavaType type, Set<Class<?>> reached) {
    Stream.of(type.getContentType())
        .filter(content -> content != null)
        .forEach(content -> reach(content, reached));
    if (type.getRawClass().getPackageName().equals(PACKAGE) && reached.add(type.getRawClass())) {
      fields(type).values().forEach(field -> reach(field, reached));
    }
  }

  private static boolean isKind(Class<?> type) {
    return HasMetadata.class.isAssignableFrom(type);
  }

  private static JsonNode definition(Class<?> type) {
    return new CrdFiles()
        .definitions().stream()
            .filter(each -> each.at("/spec/names/kind").asText().equals(type.getSimpleName()))
            .findFirst()
            .orElseThrow();
  }

  private static JsonNode schema(Class<?> type) {
    return definition(type)
        .at("/spec/versions")
        .valueStream()
        .filter(version -> version.path("name").asText().equals(VERSION))
        .findFirst()
        .orElseThrow()
        .at("/schema/openAPIV3Schema");
  }

  static Stream<Class<?>> kinds() throws IOException {
    return types().filter(type -> isKind(type) && !Modifier.isAbstract(type.getModifiers()));
  }

  private static Stream<Class<?>> types() throws IOException {
    Path directory =
        Path.of(System.getProperty("sluice.project.directory", "."))
            .resolve("operator/src/main/java/" + PACKAGE.replace('.', '/'));
    try (Stream<Path> files = Files.list(directory)) {
      List<Class<?>> types = new ArrayList<>();
      for (Path file : files.sorted().toList()) {
        String name = file.getFileName().toString().replace(".java", "");
        if (!name.equals("package-info")) {
          types.add(load(name));
        }
      }
      return types.stream();
    }
  }

  private static Class<?> load(String name) {
    try {
      return Class.forName(PACKAGE + "." + name);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }
}
