package dev.sluice.workload.feed;

import dev.sluice.api.Quantities;
import dev.sluice.api.config.Resources.Transformation;
import dev.sluice.core.model.ResourceAmounts;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Transforms the requests of a pod into the amounts that quota counts: applies resource
 * transformations, then drops excluded resources (docs/scheduling-semantics.md#what-is-pending 5, 6
 * and 8).
 */
final class ResourceTransformer {

  private static final BigDecimal LARGEST = BigDecimal.valueOf(Long.MAX_VALUE);
  private static final BigDecimal SMALLEST = BigDecimal.valueOf(Long.MIN_VALUE);

  private final List<String> excludedPrefixes;
  private final Map<String, Transformation> transformations = new HashMap<>();

  ResourceTransformer(List<String> excludedPrefixes, List<Transformation> transformations) {
    this.excludedPrefixes = List.copyOf(excludedPrefixes);
    transformations.forEach(each -> this.transformations.put(each.input(), each));
  }

  /**
   * The counted amounts of a pod, from its requested amounts; none is negative. An excluded
   * resource isn't counted itself, but it is an input and a factor of transformations like any
   * other.
   */
  SortedMap<String, Long> of(SortedMap<String, Long> requested) {
    SortedMap<String, Long> counted = new TreeMap<>();
    Map<String, BigDecimal> outputs = new HashMap<>();
    requested.forEach(
        (resource, amount) -> {
          Transformation transformation = transformations.get(resource);
          if (transformation != null) {
            addOutputs(outputs, transformation, resource, amount, requested);
          }
          boolean replaced = transformation != null && transformation.replace();
          if (!replaced && !isExcluded(resource)) {
            counted.put(resource, amount);
          }
        });
    outputs.forEach(
        (resource, value) ->
            counted.merge(resource, amount(resource, value), ResourceAmounts::add));
    counted.replaceAll((resource, amount) -> Math.max(0, amount));
    return counted;
  }

  private boolean isExcluded(String resource) {
    for (String prefix : excludedPrefixes) {
      if (resource.startsWith(prefix)) {
        return true;
      }
    }
    return false;
  }

  private static void addOutputs(
      Map<String, BigDecimal> outputs,
      Transformation transformation,
      String resource,
      long amount,
      Map<String, Long> requested) {
    BigDecimal value = number(resource, amount);
    Long factor = requested.get(transformation.multiplyBy());
    BigDecimal scaled =
        factor == null ? value : value.multiply(number(transformation.multiplyBy(), factor));
    transformation
        .outputs()
        .forEach(
            (output, perUnit) -> outputs.merge(output, scaled.multiply(perUnit), BigDecimal::add));
  }

  private static BigDecimal number(String resource, long amount) {
    BigDecimal number = BigDecimal.valueOf(amount);
    return resource.equals(Quantities.CPU) ? number.scaleByPowerOfTen(-3) : number;
  }

  private static long amount(String resource, BigDecimal number) {
    BigDecimal units = resource.equals(Quantities.CPU) ? number.scaleByPowerOfTen(3) : number;
    BigDecimal rounded = units.setScale(0, RoundingMode.UP);
    return Math.max(0, rounded.min(LARGEST).max(SMALLEST).longValueExact());
  }
}
