package dev.sluice.queues;

import dev.sluice.api.v1beta2.Topology;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.mapping.FlavorMapper;

/** Reconciles a Topology: keeps its finalizer while a ResourceFlavor refers to the Topology. */
final class TopologyReconciler extends InUseFinalizerReconciler<Topology> {

  private final InformerCaches informerCaches;

  TopologyReconciler(
      Leadership leadership,
      ReconcileTrigger<Topology> reconcileTrigger,
      InformerCaches informerCaches,
      ApiClient writer) {
    super(leadership, reconcileTrigger, writer);
    this.informerCaches = informerCaches;
  }

  @Override
  boolean inUse(String name) {
    return informerCaches.flavors().all().stream()
        .anyMatch(flavor -> FlavorMapper.topology(flavor).filter(name::equals).isPresent());
  }
}
