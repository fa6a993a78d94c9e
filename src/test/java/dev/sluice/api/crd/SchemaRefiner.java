package dev.sluice.api.crd;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.schema.Atomic;
import dev.sluice.api.schema.DateTime;
import dev.sluice.api.schema.Items;
import dev.sluice.api.schema.ListMap;
import dev.sluice.api.schema.ListSet;
import dev.sluice.api.schema.NonNegative;
import dev.sluice.api.schema.OneOf;
import dev.sluice.api.schema.Text;
import dev.sluice.api.schema.Values;
import io.fabric8.generator.annotation.Default;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Adds to a generated schema what only the annotations of {@code dev.sluice.api.schema} say. */
final class SchemaRefiner {

  /** What a field says that the schema of its type must not take away. */
  private static final Set<String> OF_THE_FIELD =
      Set.of("description", "default", "x-kubernetes-validations");

  private final Map<String, JsonNode> parts;

  /**
   * A refiner.
   *
   * @param parts schemas of types that belong to Kubernetes, by simple name of the class
   */
  SchemaRefiner(Map<String, JsonNode> parts) {
    this.parts = parts;
  }

  /** Refines the schema of an object, given the class it was made of. */
  void refine(Class<?> type, ObjectNode schema) {
    if (!(schema.get("properties") instanceof ObjectNode properties)) {
      return;
    }
    for (Field field : type.getDeclaredFields()) {
      if (!Modifier.isStatic(field.getModifiers())
          && properties.get(field.getName()) instanceof ObjectNode property) {
        field(field, property);
      }
    }
  }

  private void field(Field field, ObjectNode schema) {
    type(field.getGenericType(), schema);
    list(field, schema);
    map(field, schema);
    text(field, schema);
    defaults(field, schema);
    nonNegative(field, schema);
  }

  private static void nonNegative(Field field, ObjectNode schema) {
    if (field.isAnnotationPresent(NonNegative.class)) {
      schema.put("minimum", 0);
      schema.put("pattern", schema.path("pattern").asText().replace("^(\\+|-)?", "^\\+?"));
    }
  }

  /** The generator reads a default into the Java type, where more than was said may come of it. */
  private static void defaults(Field field, ObjectNode schema) {
    Default value = field.getAnnotation(Default.class);
    if (value != null && value.value().startsWith("{")) {
      schema.set("default", Serialization.unmarshal(value.value(), ObjectNode.class));
    }
  }

  private void type(Type type, ObjectNode schema) {
    if (type instanceof ParameterizedType generic) {
      boolean list = List.class.equals(generic.getRawType());
      Type[] arguments = generic.getActualTypeArguments();
      type(
          arguments[arguments.length - 1],
          (ObjectNode) schema.get(list ? "items" : "additionalProperties"));
    } else if (type instanceof Class<?> plain) {
      plain(plain, schema);
    }
  }

  private void plain(Class<?> type, ObjectNode schema) {
    JsonNode part = parts.get(type.getSimpleName());
    if (part != null) {
      schema.retain(OF_THE_FIELD);
      part.properties().stream()
          .filter(entry -> !schema.has(entry.getKey()))
          .forEach(entry -> schema.set(entry.getKey(), entry.getValue().deepCopy()));
    } else if (type.isRecord()) {
      refine(type, schema);
    } else if (Integer.class.equals(type) || int.class.equals(type)) {
      schema.put("format", "int32");
    } else if (Long.class.equals(type)) {
      schema.put("format", "int64");
    }
  }

  private static void list(Field field, ObjectNode schema) {
    ListMap keys = field.getAnnotation(ListMap.class);
    if (keys != null) {
      schema.put("x-kubernetes-list-type", "map");
      strings(schema.putArray("x-kubernetes-list-map-keys"), keys.value());
    }
    if (field.isAnnotationPresent(ListSet.class)) {
      schema.put("x-kubernetes-list-type", "set");
    }
    if (field.isAnnotationPresent(Atomic.class) && List.class.equals(field.getType())) {
      schema.put("x-kubernetes-list-type", "atomic");
    }
    Items items = field.getAnnotation(Items.class);
    if (items != null) {
      ObjectNode item = (ObjectNode) schema.get("items");
      limits(item, items.pattern(), -1, items.maxLength());
      if (items.minimum() != Long.MIN_VALUE) {
        item.put("minimum", items.minimum());
      }
    }
  }

  private static void map(Field field, ObjectNode schema) {
    if (field.isAnnotationPresent(Atomic.class) && Map.class.equals(field.getType())) {
      schema.put("x-kubernetes-map-type", "atomic");
    }
    Values values = field.getAnnotation(Values.class);
    if (values != null) {
      limits(
          (ObjectNode) schema.get("additionalProperties"),
          values.pattern(),
          -1,
          values.maxLength());
    }
  }

  private static void text(Field field, ObjectNode schema) {
    Text text = field.getAnnotation(Text.class);
    if (text != null) {
      limits(schema, "", text.min(), text.max());
    }
    if (field.isAnnotationPresent(DateTime.class)) {
      schema.put("format", "date-time");
    }
    OneOf choices = field.getAnnotation(OneOf.class);
    if (choices != null) {
      strings(schema.putArray("enum"), choices.value());
    }
  }

  private static void limits(ObjectNode schema, String pattern, int min, int max) {
    if (!pattern.isEmpty()) {
      schema.put("pattern", pattern);
    }
    if (min > 0) {
      schema.put("minLength", min);
    }
    if (max >= 0) {
      schema.put("maxLength", max);
    }
  }

  private static void strings(ArrayNode array, String[] values) {
    Arrays.stream(values).forEach(array::add);
  }
}
