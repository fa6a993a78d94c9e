package dev.sluice.api.v1beta2;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a field that is absent in a manifest stands for. */
final class Defaults {

  private Defaults() {}

  /** The list itself, made immutable; an absent one is empty. */
  static <T> List<T> orEmpty(@Nullable List<T> list) {
    return list == null ? List.of() : List.copyOf(list);
  }

  /** The map itself, made immutable and with its order kept; an absent one is empty. */
  static <V> Map<String, V> orEmpty(@Nullable Map<String, V> map) {
    return map == null || map.isEmpty()
        ? Map.of()
        : Collections.unmodifiableMap(new LinkedHashMap<>(map));
  }

  /** The value itself, or what stands for an absent one. */
  static <T> T or(@Nullable T value, T otherwise) {
    return value == null ? otherwise : value;
  }
}
