package dev.sluice.core.model;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Unmodifiable copies of maps whose keys somebody else chose, such as labels. The JDK's own copy
 * compares keys of one hash one after the other: a user can write 30,000 labels of one hash, and it
 * would take seconds. A {@link LinkedHashMap} keeps such keys in a tree.
 */
public final class MapCopies {

  /** Maps up to this size are copied by the JDK, whose copies need less memory. */
  private static final int SMALL = 64;

  private MapCopies() {}

  /** A copy that takes n log n steps at most; the map must hold no null. */
  public static <V> Map<String, V> of(Map<String, V> map) {
    return map.size() <= SMALL
        ? Map.copyOf(map)
        : Collections.unmodifiableMap(new LinkedHashMap<>(map));
  }
}
