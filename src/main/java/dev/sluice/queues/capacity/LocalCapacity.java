package dev.sluice.queues.capacity;

import dev.sluice.api.Quantities;
import dev.sluice.api.queueing.CapacityAnnotations;
import dev.sluice.api.v1alpha1.Capacity;
import dev.sluice.api.v1alpha1.Capacity.FlavorCapacity;
import dev.sluice.api.v1alpha1.CapacityProvider;
import dev.sluice.api.v1alpha1.CapacityProvider.OrchestratedFlavor;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.ResourceAmounts;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What the nodes of this cluster have of the flavors of a CapacityProvider. */
final class LocalCapacity {

  /** The controller that counts nodes. */
  static final String CONTROLLER = "kueue.x-k8s.io/local-capacity";

  private static final int MOST_RESOURCES = 64;

  private LocalCapacity() {}

  /** The capacity, or why there is none. */
  sealed interface Result {

    /** The capacity, with each flavor of the provider. */
    record Counted(Capacity capacity) implements Result {}

    /** There is none, for this reason of {@code CapacitySynchronized}. */
    record Failed(String reason, String message) implements Result {}
  }

  /** Whether this provider asks for the nodes to be counted. */
  static boolean isCounted(CapacityProvider provider) {
    return provider.getSpec() != null && provider.getSpec().controllerName().equals(CONTROLLER);
  }

  /**
   * Counts.
   *
   * @param before the capacity that the provider has, which small changes don't change
   */
  static Result of(
      CapacityProvider provider,
      @Nullable Capacity before,
      Function<String, Optional<ResourceFlavor>> flavors,
      Collection<ClusterNode> nodes) {
    CapacityAnnotations annotations =
        CapacityAnnotations.of(provider.getMetadata().getAnnotations());
    List<String> faults = new ArrayList<>(annotations.faults());
    if (provider.getSpec().parameters() != null) {
      faults.add("spec.parameters: must be absent for the controller " + CONTROLLER);
    }
    List<FlavorCapacity> counted = new ArrayList<>();
    List<OrchestratedFlavor> orchestrated = provider.getSpec().orchestratedFlavors();
    for (int i = 0; i < orchestrated.size(); i++) {
      String name = orchestrated.get(i).name();
      Optional<ResourceFlavor> flavor = flavors.apply(name);
      if (flavor.isEmpty()) {
        faults.add(
            "spec.orchestratedFlavors[%d].name: ResourceFlavor \"%s\" doesn't exist"
                .formatted(i, name));
      } else {
        SortedMap<String, Long> amounts = sum(flavor.get(), nodes);
        if (amounts.size() > MOST_RESOURCES) {
          return new Result.Failed(
              "InvalidCapacity",
              "the nodes of flavor \"%s\" have more than %d resources"
                  .formatted(name, MOST_RESOURCES));
        }
        Map<String, Long> then = amounts(before, name);
        then.keySet().forEach(resource -> amounts.putIfAbsent(resource, 0L));
        annotations.floor().keySet().forEach(resource -> amounts.putIfAbsent(resource, 0L));
        amounts.replaceAll(
            (resource, amount) -> annotations.told(resource, then.get(resource), amount));
        if (amounts.size() <= MOST_RESOURCES) {
          counted.add(new FlavorCapacity(name, CapacitySum.quantities(amounts)));
        } else {
          return new Result.Failed(
              "InvalidCapacity",
              "flavor \"%s\" has more than %d resources".formatted(name, MOST_RESOURCES));
        }
      }
    }
    return faults.isEmpty()
        ? new Result.Counted(new Capacity(counted))
        : new Result.Failed("Misconfigured", String.join("; ", faults));
  }

  private static SortedMap<String, Long> sum(ResourceFlavor flavor, Collection<ClusterNode> nodes) {
    Map<String, String> labels =
        flavor.getSpec() == null ? Map.of() : flavor.getSpec().nodeLabels();
    SortedMap<String, Long> amounts = new TreeMap<>();
    for (ClusterNode node : nodes) {
      if (node.usable() && node.labels().entrySet().containsAll(labels.entrySet())) {
        node.allocatable()
            .forEach(
                (resource, amount) ->
                    amounts.merge(resource, Math.max(0, amount), ResourceAmounts::addQuota));
      }
    }
    return amounts;
  }

  /** The amounts that were told of a flavor; those that can't be read are left out. */
  private static Map<String, Long> amounts(@Nullable Capacity before, String flavor) {
    Map<String, Long> amounts = new TreeMap<>();
    for (FlavorCapacity each : before == null ? List.<FlavorCapacity>of() : before.flavors()) {
      if (each.name().equals(flavor)) {
        for (Map.Entry<String, Quantity> entry : each.resources().entrySet()) {
          try {
            amounts.put(
                entry.getKey(),
                Quantities.amount(entry.getKey(), String.valueOf(entry.getValue())));
          } catch (IllegalArgumentException notAQuantity) {
            amounts.remove(entry.getKey());
          }
        }
      }
    }
    return amounts;
  }
}
