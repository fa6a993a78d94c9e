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
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the status of the CapacityProviders that count nodes or worker clusters; those of other
 * controllers are left alone.
 */
final class CapacityProviderReconciler extends LeaderAwareReconciler<CapacityProvider> {

  private final InformerCaches caches;
  private final Optional<CapacityNodes> nodes;
  private final ForeignPodCount foreignPods;
  private final Optional<WorkerCapacity> workers;
  private final StatusWriter<CapacityProviderStatus> statusWriter;
  private final InstantSource clock;

  /** Creates a reconciler. */
  CapacityProviderReconciler(
      CapacityControllers.Dependencies dependencies,
      ReconcileTrigger<CapacityProvider> reconcileTrigger) {
    super(dependencies.leadership(), reconcileTrigger);
    this.caches = dependencies.caches();
    this.nodes = dependencies.sources().nodes();
    this.foreignPods = new ForeignPodCount(() -> nodes.flatMap(CapacityNodes::foreignRequests));
    this.workers = dependencies.sources().workers();
    this.statusWriter =
        new StatusWriter<>(
            dependencies.mapper(), dependencies.apiClient(), CapacityProviderStatus.class);
    this.clock = dependencies.clock();
  }

  /** Pods are counted again by whoever asks next. */
  void countPodsAgain() {
    foreignPods.countAgain();
  }

  @Override
  protected Step reconcileObject(CapacityProvider provider) {
    boolean counted =
        (nodes.isPresent() && ProviderCapacity.countsNodes(provider))
            || (workers.isPresent() && ProviderCapacity.countsWorkers(provider));
    if (!counted || provider.isMarkedForDeletion()) {
      return new Step.Done();
    }
    return statusWriter
        .write(provider, status -> wanted(provider, status))
        .map(outcome -> after(provider, outcome))
        .orElseGet(Step.Done::new);
  }

  /** A capacity that was told stays until what is counted is known. */
  private CapacityProviderStatus wanted(
      CapacityProvider provider, @Nullable CapacityProviderStatus status) {
    Capacity before = status == null ? null : status.capacity();
    List<Condition> conditions = status == null ? List.of() : status.conditions();
    boolean ofWorkers = ProviderCapacity.countsWorkers(provider);
    boolean subtracts =
        ProviderCapacity.subtractsPods(provider) && nodes.orElseThrow().countsPods();
    Optional<Map<String, SortedMap<String, Long>>> foreign =
        subtracts ? foreignPods.requests() : Optional.empty();
    if (!ofWorkers && (!nodes.orElseThrow().isListed() || (subtracts && foreign.isEmpty()))) {
      return before == null
          ? told(
              provider,
              conditions,
              null,
              "SourceUnavailable",
              subtracts ? "The nodes and pods aren't listed yet" : "The nodes aren't listed yet")
          : new CapacityProviderStatus(before, conditions);
    }
    ProviderCapacity.Result result =
        ofWorkers
            ? ProviderCapacity.ofWorkers(
                provider, before, caches.flavors()::find, workers.orElseThrow())
            : ProviderCapacity.of(
                provider, before, caches.flavors()::find, nodes.orElseThrow().all(), foreign);
    return switch (result) {
      case ProviderCapacity.Result.Counted(Capacity capacity) ->
          told(
              provider,
              conditions,
              capacity,
              "Synchronized",
              ofWorkers
                  ? "The capacity is the nominal quota of the worker clusters"
                  : "The capacity is that of the nodes that are ready and schedulable"
                      + (subtracts ? ", less what pods request there that aren't queued" : ""));
      case ProviderCapacity.Result.Failed(String reason, String message) ->
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
