package dev.sluice.workload;

import java.util.Map;

/**
 * What the LimitRanges of a namespace say together, in amounts.
 *
 * @param container bounds and defaults of each container
 * @param pod bounds and defaults of a pod as a whole
 */
public record NamespaceLimits(ItemRules container, ItemRules pod) {

  /** A namespace without LimitRanges. */
  public static final NamespaceLimits NONE = new NamespaceLimits(ItemRules.NONE, ItemRules.NONE);

  /**
   * Bounds and defaults of one kind of thing, by resource.
   *
   * @param max the most that a request or limit may be
   * @param min the least
   * @param defaultLimit the limit of what gives none
   * @param defaultRequest the request of what gives none
   */
  public record ItemRules(
      Map<String, Long> max,
      Map<String, Long> min,
      Map<String, Long> defaultLimit,
      Map<String, Long> defaultRequest) {

    /** No bounds, no defaults. */
    public static final ItemRules NONE = new ItemRules(Map.of(), Map.of(), Map.of(), Map.of());

    /** Keeps copies. */
    public ItemRules {
      max = Map.copyOf(max);
      min = Map.copyOf(min);
      defaultLimit = Map.copyOf(defaultLimit);
      defaultRequest = Map.copyOf(defaultRequest);
    }
  }
}
