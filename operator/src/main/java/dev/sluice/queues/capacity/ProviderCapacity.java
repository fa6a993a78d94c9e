package dev.sluice.queues.capacity;

import dev.sluice.api.ApiVersions;
import dev.sluice.api.Quantities;
import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.api.queueing.CapacityAnnotations;
import dev.sluice.api.v1alpha1.CapacityProvider;
import dev.sluice.api.v1alpha1.CapacityProvider.Capacity;
import dev.sluice.api.v1alpha1.CapacityProvider.Capacity.FlavorCapacity;
import dev.sluice.api.v1alpha1.CapacityProvider.OrchestratedFlavor;
import dev.sluice.api.v1alpha1.CapacityProvider.ParametersReference;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.queues.capacity.CapacityControllers.WorkerCapacity;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the nodes of this cluster, or the worker clusters, have of the flavors of a
 * CapacityProvider.
 */
final class ProviderCapacity {

  /** The controller that counts nodes. */
  static final String CONTROLLER = "kueue.x-k8s.io/local-capacity";

  /** The controller that adds up worker clusters. */
  static final String WORKERS = "sluice.dev/worker-clusters";

  private static final int MOST_RESOURCES = 64;
  private static final String CONFIG = "MultiKueueConfig";

  private ProviderCapacity() {}

  /** The capacity, or why there is none. */
  sealed interface Result {

    /** The capacity, with each flavor of the provider. */
    record Counted(Capacity capacity) implements Result {}

    /** There is none, for this reason of {@code CapacitySynchronized}. */
    record Failed(String reason, String message) implements Result {}
  }

  /** Whether this provider asks for the nodes to be counted. */
  static boolean countsNodes(CapacityProvider provider) {
    return isOf(provider, CONTROLLER);
  }

  /** Whether this provider asks for the worker clusters to be added up. */
  static boolean countsWorkers(CapacityProvider provider) {
    return isOf(provider, WORKERS);
  }

  private static boolean isOf(CapacityProvider provider, String controller) {
    return provider.getSpec() != null && provider.getSpec().controllerName().equals(controller);
  }

  /** Whether this provider asks for what pods request that no quota counts to be subtracted. */
  static boolean subtractsPods(CapacityProvider provider) {
    return countsNodes(provider)
        && CapacityAnnotations.of(provider.getMetadata().getAnnotations()).withoutForeignPods();
  }

  /**
   * Counts nodes.
   *
   * @param before the capacity that the provider has, which small changes don't change
   * @param foreign what pods request that no quota counts, by node; empty if nobody counts pods
   */
  static Result of(
      CapacityProvider provider,
      @Nullable Capacity before,
      Function<String, Optional<ResourceFlavor>> flavors,
      Collection<ClusterNode> nodes,
      Optional<Map<String, SortedMap<String, Long>>> foreign) {
    List<String> faults = new ArrayList<>();
    boolean subtracts = subtractsPods(provider);
    if (subtracts && foreign.isEmpty()) {
      faults.add(
          "metadata.annotations[%s]: needs podAccounting: Detect or Prevent in the configuration"
              .formatted(CapacityAnnotations.SUBTRACT));
    }
    Map<String, SortedMap<String, Long>> less = subtracts ? foreign.orElse(Map.of()) : Map.of();
    if (provider.getSpec().parameters() != null) {
      faults.add("spec.parameters: must be absent for the controller " + CONTROLLER);
    }
    return of(provider, before, flavors, flavor -> sum(flavor, nodes, less), faults);
  }

  /** Adds up worker clusters, or takes the largest one, as the annotations say. */
  static Result ofWorkers(
      CapacityProvider provider,
      @Nullable Capacity before,
      Function<String, Optional<ResourceFlavor>> flavors,
      WorkerCapacity workers) {
    List<String> faults = new ArrayList<>();
    SortedMap<String, Map<String, Map<String, Long>>> quotas = new TreeMap<>();
    for (String cluster : clusters(provider, workers, faults)) {
      switch (workers.of(cluster)) {
        case WorkerCapacity.ClusterQuota.Known(var byFlavor) -> quotas.put(cluster, byFlavor);
        case WorkerCapacity.ClusterQuota.Unknown(String why) -> {
          return new Result.Failed(
              "SourceUnavailable", "worker cluster \"%s\": %s".formatted(cluster, why));
        }
      }
    }
    CapacityAnnotations annotations =
        CapacityAnnotations.of(provider.getMetadata().getAnnotations());
    boolean largest = annotations.largestWorker();
    if (annotations.withoutForeignPods()) {
      faults.add(
          "metadata.annotations[%s]: only for the controller %s"
              .formatted(CapacityAnnotations.SUBTRACT, CONTROLLER));
    }
    return of(
        provider,
        before,
        flavors,
        flavor -> ofWorkers(flavor, quotas, largest ? Math::max : ResourceAmounts::addQuota),
        faults);
  }

  private static List<String> clusters(
      CapacityProvider provider, WorkerCapacity workers, List<String> faults) {
    ParametersReference parameters = provider.getSpec().parameters();
    if (parameters == null) {
      return workers.clusters();
    }
    if (!CONFIG.equals(parameters.kind()) || !ApiVersions.GROUP.equals(parameters.apiGroup())) {
      faults.add(
          "spec.parameters: must be absent or name a %s of %s"
              .formatted(CONFIG, ApiVersions.GROUP));
      return List.of();
    }
    Optional<List<String>> clusters = workers.clustersOf(parameters.name());
    if (clusters.isEmpty()) {
      faults.add(
          "spec.parameters.name: %s \"%s\" doesn't exist".formatted(CONFIG, parameters.name()));
    }
    return clusters.orElse(List.of());
  }

  /**
   * A flavor that stands for a cluster has all that the cluster has; any other one what the
   * clusters have of the flavor of its name.
   */
  private static SortedMap<String, Long> ofWorkers(
      ResourceFlavor flavor,
      Map<String, Map<String, Map<String, Long>>> quotas,
      BinaryOperator<Long> combining) {
    Map<String, String> annotations = flavor.getMetadata().getAnnotations();
    String cluster = annotations == null ? null : annotations.get(LocalClusterAnnotations.FLAVOR);
    SortedMap<String, Long> amounts = new TreeMap<>();
    if (cluster != null) {
      quotas
          .getOrDefault(cluster, Map.of())
          .values()
          .forEach(
              each ->
                  each.forEach(
                      (resource, amount) ->
                          amounts.merge(resource, amount, ResourceAmounts::addQuota)));
      return amounts;
    }
    quotas
        .values()
        .forEach(
            byFlavor ->
                byFlavor
                    .getOrDefault(flavor.getMetadata().getName(), Map.of())
                    .forEach((resource, amount) -> amounts.merge(resource, amount, combining)));
    return amounts;
  }

  private static Result of(
      CapacityProvider provider,
      @Nullable Capacity before,
      Function<String, Optional<ResourceFlavor>> flavors,
      Function<ResourceFlavor, SortedMap<String, Long>> count,
      List<String> faults) {
    CapacityAnnotations annotations =
        CapacityAnnotations.of(provider.getMetadata().getAnnotations());
    faults.addAll(0, annotations.faults());
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
        SortedMap<String, Long> amounts = count.apply(flavor.get());
        if (amounts.size() > MOST_RESOURCES) {
          return new Result.Failed(
              "InvalidCapacity",
              "of flavor \"%s\" there are more than %d resources".formatted(name, MOST_RESOURCES));
        }
        Map<String, Long> then = amounts(before, name);
        addRemembered(amounts, then, annotations.floor().keySet());
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

  /**
   * Adds the resources that were told before, and those with a floor, with 0. Where that would be
   * too many, those are left out that 0 was told of: the names of resources may change for ever.
   */
  private static void addRemembered(
      SortedMap<String, Long> amounts, Map<String, Long> then, Set<String> floor) {
    Set<String> named = new TreeSet<>(amounts.keySet());
    named.addAll(then.keySet());
    named.addAll(floor);
    boolean full = named.size() > MOST_RESOURCES;
    then.forEach(
        (resource, amount) -> {
          if (amount != 0 || !full) {
            amounts.putIfAbsent(resource, 0L);
          }
        });
    floor.forEach(resource -> amounts.putIfAbsent(resource, 0L));
  }

  /** What is left of each node, which isn't less than nothing. */
  private static SortedMap<String, Long> sum(
      ResourceFlavor flavor,
      Collection<ClusterNode> nodes,
      Map<String, SortedMap<String, Long>> foreign) {
    Map<String, String> labels =
        flavor.getSpec() == null ? Map.of() : flavor.getSpec().nodeLabels();
    SortedMap<String, Long> amounts = new TreeMap<>();
    for (ClusterNode node : nodes) {
      if (node.usable() && node.labels().entrySet().containsAll(labels.entrySet())) {
        SortedMap<String, Long> less = foreign.getOrDefault(node.name(), new TreeMap<>());
        node.allocatable()
            .forEach(
                (resource, amount) ->
                    amounts.merge(
                        resource,
                        Math.max(
                            0,
                            ResourceAmounts.subtract(
                                Math.max(0, amount), less.getOrDefault(resource, 0L))),
                        ResourceAmounts::addQuota));
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
