package dev.sluice.queues;

import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.mapping.ClusterQueueMapper;

/**
 * Reconciles a ResourceFlavor: keeps its finalizer while a ClusterQueue has quota for the flavor.
 */
final class ResourceFlavorReconciler extends InUseFinalizerReconciler<ResourceFlavor> {

  private final InformerCaches informerCaches;

  ResourceFlavorReconciler(
      Leadership leadership,
      ReconcileTrigger<ResourceFlavor> reconcileTrigger,
      InformerCaches informerCaches,
      ApiClient writer) {
    super(leadership, reconcileTrigger, writer);
    this.informerCaches = informerCaches;
  }

  @Override
  boolean inUse(String name) {
    return informerCaches.clusterQueues().all().stream()
        .anyMatch(queue -> ClusterQueueMapper.flavors(queue).contains(name));
  }
}
