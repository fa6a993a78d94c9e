package dev.sluice.queues.capacity;

import dev.sluice.api.v1alpha1.Capacity;
import dev.sluice.api.v1alpha1.CapacityProvider;
import dev.sluice.api.v1alpha1.CapacityProvider.CapacityProviderStatus;
import dev.sluice.kube.controller.LeaderAwareReconciler;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.queues.StatusWriter;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.status.Conditions;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the status of the CapacityProviders that count nodes; those of other controllers are left
 * alone.
 */
final class CapacityProviderReconciler extends LeaderAwareReconciler<CapacityProvider> {

  private final InformerCaches caches;
  private final Optional<CapacityNodes> nodes;
  private final StatusWriter<CapacityProviderStatus> statusWriter;
  private final InstantSource clock;

  /**
   * Creates a reconciler.
   *
   * @param nodes what is counted; empty: nothing is
   */
  CapacityProviderReconciler(
      CapacityControllers.Dependencies dependencies,
      ReconcileTrigger<CapacityProvider> reconcileTrigger,
      Optional<CapacityNodes> nodes) {
    super(dependencies.leadership(), reconcileTrigger);
    this.caches = dependencies.caches();
    this.nodes = nodes;
    this.statusWriter =
        new StatusWriter<>(
            dependencies.mapper(), dependencies.apiClient(), CapacityProviderStatus.class);
    this.clock = dependencies.clock();
  }

  @Override
  protected Step reconcileObject(CapacityProvider provider) {
    if (nodes.isEmpty() || !LocalCapacity.isCounted(provider) || provider.isMarkedForDeletion()) {
      return new Step.Done();
    }
    return statusWriter
        .write(provider, status -> wanted(provider, nodes.get(), status))
        .map(outcome -> after(provider, outcome))
        .orElseGet(Step.Done::new);
  }

  /** A capacity that was told stays until the nodes are known. */
  private CapacityProviderStatus wanted(
      CapacityProvider provider,
      CapacityNodes capacityNodes,
      @Nullable CapacityProviderStatus status) {
    Capacity before = status == null ? null : status.capacity();
    List<Condition> conditions = status == null ? List.of() : status.conditions();
    if (!capacityNodes.isListed()) {
      return before == null
          ? told(provider, conditions, null, "SourceUnavailable", "The nodes aren't listed yet")
          : new CapacityProviderStatus(before, conditions);
    }
    return switch (LocalCapacity.of(
        provider, before, caches.flavors()::find, capacityNodes.all())) {
      case LocalCapacity.Result.Counted(Capacity capacity) ->
          told(
              provider,
              conditions,
              capacity,
              "Synchronized",
              "The capacity is that of the nodes that are ready and schedulable");
      case LocalCapacity.Result.Failed(String reason, String message) ->
          told(provider, conditions, before, reason, message);
    };
  }

  private CapacityProviderStatus told(
      CapacityProvider provider,
      List<Condition> conditions,
      @Nullable Capacity capacity,
      String reason,
      String message) {
    return new CapacityProviderStatus(
        capacity,
        Conditions.with(
            conditions,
            Conditions.of(
                CapacityProvider.SYNCHRONIZED,
                reason.equals("Synchronized"),
                reason,
                message,
                generation(provider),
                clock.instant())));
  }

  @Override
  protected void forget(CapacityProvider provider) {
    statusWriter.forget(provider);
  }
}
