package dev.sluice.queues.capacity;

import dev.sluice.api.Quantities;
import dev.sluice.api.v1alpha1.CapacityProvider;
import dev.sluice.api.v1alpha1.CapacityProvider.Capacity;
import dev.sluice.api.v1alpha1.CapacityProvider.Capacity.FlavorCapacity;
import dev.sluice.api.v1alpha1.CapacityProvider.CapacityProviderStatus;
import dev.sluice.api.v1alpha1.CapacityProvider.OrchestratedFlavor;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.ProviderReference;
import dev.sluice.core.model.ResourceAmounts;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Adds up what providers say, whoever wrote it. Never throws. */
final class CapacitySum {

  /** The most flavors of a sum. */
  static final int MOST_FLAVORS = 128;

  /** The most resources of a flavor in a sum. */
  static final int MOST_RESOURCES = 64;

  private static final BigDecimal MOST = BigDecimal.valueOf(ResourceAmounts.UNLIMITED - 1);

  private final SortedMap<String, SortedMap<String, BigDecimal>> sums = new TreeMap<>();

  private CapacitySum() {}

  /** The sum, or why there is none. */
  sealed interface Result {

    /**
     * The sum.
     *
     * @param flavors amounts by flavor and resource, rounded down; in thousandths for cpu
     */
    record Computed(SortedMap<String, SortedMap<String, Long>> flavors) implements Result {

      /** The sum as the status of an orchestrator shows it. */
      Capacity shown() {
        return new Capacity(
            flavors.entrySet().stream()
                .map(entry -> new FlavorCapacity(entry.getKey(), quantities(entry.getValue())))
                .toList());
      }
    }

    /** There is no sum, for this reason of {@code EffectiveCapacityComputed}. */
    record Failed(String reason, String message) implements Result {}
  }

  /** Amounts of resources as quantities. */
  static Map<String, Quantity> quantities(Map<String, Long> amounts) {
    return amounts.entrySet().stream()
        .collect(
            Collectors.toMap(
                Map.Entry::getKey,
                each -> Quantity.parse(Quantities.format(each.getKey(), each.getValue()))));
  }

  /** What these providers have together, each times its multiplier. */
  static Result of(
      List<ProviderReference> providers, Function<String, Optional<CapacityProvider>> find) {
    CapacitySum sum = new CapacitySum();
    for (int i = 0; i < providers.size(); i++) {
      ProviderReference reference = providers.get(i);
      Optional<Result> failure =
          sum.add(
              reference,
              find.apply(reference.name()),
              "spec.capacityDiscovery.providers[%d].effectiveCapacityMultiplier".formatted(i));
      if (failure.isPresent()) {
        return failure.get();
      }
    }
    return sum.result();
  }

  private Optional<Result> add(
      ProviderReference reference, Optional<CapacityProvider> found, String field) {
    String name = reference.name();
    Quantity multiplier = reference.effectiveCapacityMultiplier();
    Optional<BigDecimal> factor =
        multiplier == null ? Optional.of(BigDecimal.ONE) : notNegative(multiplier);
    if (factor.isEmpty()) {
      return failed(
          "Misconfigured",
          "%s: \"%s\": must be a quantity of 0 or more"
              .formatted(field, String.valueOf(multiplier)));
    }
    if (found.isEmpty()) {
      return failed("ProviderNotReady", "CapacityProvider \"%s\" doesn't exist".formatted(name));
    }
    CapacityProviderStatus status = found.get().getStatus();
    Optional<Condition> synchronised = synchronised(status);
    if (status == null
        || synchronised.filter(condition -> "True".equals(condition.getStatus())).isEmpty()) {
      return failed(
          "ProviderNotReady",
          "CapacityProvider \"%s\" is not synchronized: %s"
              .formatted(
                  name,
                  synchronised
                      .map(condition -> condition.getReason() + ": " + condition.getMessage())
                      .orElse(
                          "its controller has not set the condition "
                              + CapacityProvider.SYNCHRONIZED)));
    }
    Set<String> orchestrated = orchestrated(found.get());
    orchestrated.forEach(flavor -> sums.computeIfAbsent(flavor, any -> new TreeMap<>()));
    Capacity capacity = status.capacity() == null ? new Capacity(List.of()) : status.capacity();
    for (FlavorCapacity flavor : capacity.flavors()) {
      SortedMap<String, BigDecimal> amounts = sums.get(flavor.name());
      if (amounts == null || !orchestrated.remove(flavor.name())) {
        continue; // not the provider's to tell, or told twice
      }
      for (Map.Entry<String, Quantity> each : flavor.resources().entrySet()) {
        Optional<BigDecimal> amount = notNegative(each.getValue());
        if (amount.isEmpty()) {
          return failed(
              "AggregationFailed",
              ("CapacityProvider \"%s\": status.capacity.flavors[%s].resources[%s]: \"%s\": must be"
                      + " a quantity of 0 or more")
                  .formatted(name, flavor.name(), each.getKey(), each.getValue()));
        }
        amounts.merge(each.getKey(), amount.get().multiply(factor.get()), BigDecimal::add);
        if (amounts.size() > MOST_RESOURCES) {
          return failed(
              "AggregationFailed",
              "flavor \"%s\" has more than %d resources in sum"
                  .formatted(flavor.name(), MOST_RESOURCES));
        }
      }
    }
    return sums.size() > MOST_FLAVORS
        ? failed(
            "AggregationFailed", "there are more than %d flavors in sum".formatted(MOST_FLAVORS))
        : Optional.empty();
  }

  private static Set<String> orchestrated(CapacityProvider provider) {
    return provider.getSpec() == null
        ? Set.of()
        : provider.getSpec().orchestratedFlavors().stream()
            .map(OrchestratedFlavor::name)
            .collect(Collectors.toCollection(HashSet::new));
  }

  /** The condition of a provider that tells whether its capacity can be relied on. */
  private static Optional<Condition> synchronised(@Nullable CapacityProviderStatus status) {
    return status == null
        ? Optional.empty()
        : status.conditions().stream()
            .filter(condition -> CapacityProvider.SYNCHRONIZED.equals(condition.getType()))
            .findFirst();
  }

  private Result result() {
    SortedMap<String, SortedMap<String, Long>> flavors = new TreeMap<>();
    sums.forEach(
        (flavor, amounts) -> {
          SortedMap<String, Long> units = new TreeMap<>();
          amounts.forEach((resource, amount) -> units.put(resource, units(resource, amount)));
          flavors.put(flavor, units);
        });
    return new Result.Computed(flavors);
  }

  /** Whole units, thousandths for cpu; the largest limit stands for more than that. */
  private static long units(String resource, BigDecimal amount) {
    BigDecimal units = resource.equals(Quantities.CPU) ? amount.scaleByPowerOfTen(3) : amount;
    return units.min(MOST).setScale(0, RoundingMode.DOWN).longValue();
  }

  private static Optional<BigDecimal> notNegative(@Nullable Quantity quantity) {
    if (quantity == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(Quantities.parse(quantity.toString()))
          .filter(number -> number.signum() >= 0);
    } catch (IllegalArgumentException notAQuantity) {
      return Optional.empty();
    }
  }

  private static Optional<Result> failed(String reason, String message) {
    return Optional.of(new Result.Failed(reason, message));
  }
}
