package dev.sluice.ledger;

import dev.sluice.api.queueing.CostAnnotations;
import dev.sluice.api.queueing.FlavorPrices;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.ResourceGroup;
import dev.sluice.core.model.FlavorResource;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * What the cost of an amount is compared with (docs/prices.md#what-was-saved).
 *
 * @param flavor the flavor that the listed order tries first
 * @param pace how long the work of a second takes there, in seconds, with at most ten digits after
 *     the point
 */
public record Baseline(String flavor, BigDecimal pace) {

  private static final int DIGITS = 10;

  public Baseline {
    pace = pace.setScale(DIGITS, RoundingMode.HALF_UP).stripTrailingZeros();
  }

  /**
   * The flavor with a price that a ClusterQueue lists first for a resource, if it tries its flavors
   * in the order of cost; empty if that is the one that is used.
   *
   * @param flavors the ResourceFlavors by their names
   */
  public static Optional<Baseline> of(
      ClusterQueue queue,
      FlavorResource flavorResource,
      Function<String, Optional<ResourceFlavor>> flavors) {
    Map<String, String> annotations = queue.getMetadata().getAnnotations();
    if (queue.getSpec() == null
        || annotations == null
        || !annotations.containsKey(CostAnnotations.FLAVOR_ORDER)
        || QueueAnnotations.ofClusterQueue(annotations).rules().cheapest().isEmpty()) {
      return Optional.empty();
    }
    for (ResourceGroup group : queue.getSpec().resourceGroups()) {
      if (group.coveredResources().contains(flavorResource.resource())) {
        return group.flavors().stream()
            .map(ResourceGroup.FlavorQuotas::name)
            .filter(name -> hasPrice(flavors.apply(name), flavorResource.resource()))
            .findFirst()
            .filter(first -> !first.equals(flavorResource.flavor()))
            .map(
                first ->
                    new Baseline(
                        first,
                        speed(flavors.apply(flavorResource.flavor()))
                            .divide(speed(flavors.apply(first)), MathContext.DECIMAL64)));
      }
    }
    return Optional.empty();
  }

  private static boolean hasPrice(Optional<ResourceFlavor> flavor, String resource) {
    return flavor
        .map(it -> FlavorPrices.of(it.getMetadata().getAnnotations()).perHour())
        .filter(prices -> prices.containsKey(resource))
        .isPresent();
  }

  private static BigDecimal speed(Optional<ResourceFlavor> flavor) {
    return flavor
        .flatMap(it -> CostAnnotations.ofFlavor(it.getMetadata().getAnnotations()).speed())
        .orElse(BigDecimal.ONE);
  }
}
