package dev.sluice.queues;

import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.events.EventNotifier;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.reconcile.PerGenerationEvents;
import dev.sluice.kube.reconcile.ReconcileTrigger;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.mapping.ClusterQueueMapper;
import dev.sluice.queues.mapping.UnsupportedFields;

/**
 * Reconciles a ResourceFlavor: keeps its finalizer while a ClusterQueue has quota for the flavor.
 */
final class ResourceFlavorReconciler extends InUseFinalizerReconciler<ResourceFlavor> {

  private final InformerCaches informerCaches;
  private final PerGenerationEvents perGenerationEvents;

  ResourceFlavorReconciler(
      Leadership leadership,
      ReconcileTrigger<ResourceFlavor> reconcileTrigger,
      InformerCaches informerCaches,
      ApiClient writer,
      EventNotifier eventNotifier) {
    super(leadership, reconcileTrigger, writer);
    this.informerCaches = informerCaches;
    this.perGenerationEvents = new PerGenerationEvents(eventNotifier);
  }

  @Override
  boolean inUse(String name) {
    return informerCaches.clusterQueues().all().stream()
        .anyMatch(queue -> ClusterQueueMapper.flavors(queue).contains(name));
  }

  @Override
  void warnings(ResourceFlavor flavor) {
    perGenerationEvents.emit(flavor, UnsupportedFields.REASON, UnsupportedFields.in(flavor));
  }

  @Override
  protected void forget(ResourceFlavor flavor) {
    perGenerationEvents.forget(flavor);
  }
}
