package dev.sluice.workload.record;

import java.util.Map;

/**
 * The combined LimitRanges of a namespace, in amounts.
 *
 * @param container bounds and defaults of each container
 * @param pod bounds and defaults of a pod as a whole
 */
public record NamespaceLimits(ItemRules container, ItemRules pod) {

  /** A namespace without LimitRanges. */
  public static final NamespaceLimits NONE = new NamespaceLimits(ItemRules.NONE, ItemRules.NONE);

  /**
   * Bounds and defaults of containers or of pods, by resource.
   *
   * @param max the largest allowed request or limit
   * @param min the smallest allowed request or limit
   * @param ratio how many times its request a limit may be at most, in thousandths; a resource that
   *     has a ratio needs both
   * @param defaultLimit the limit of a container without limit
   * @param defaultRequest the request of a container without request
   */
  public record ItemRules(
      Map<String, Long> max,
      Map<String, Long> min,
      Map<String, Long> ratio,
      Map<String, Long> defaultLimit,
      Map<String, Long> defaultRequest) {

    /** No bounds, no defaults. */
    public static final ItemRules NONE =
        new ItemRules(Map.of(), Map.of(), Map.of(), Map.of(), Map.of());

    /** Copies the maps. */
    public ItemRules {
      max = Map.copyOf(max);
      min = Map.copyOf(min);
      ratio = Map.copyOf(ratio);
      defaultLimit = Map.copyOf(defaultLimit);
      defaultRequest = Map.copyOf(defaultRequest);
    }
  }
}
