package dev.sluice.controllers.kinds;

import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.ApiPatcher;
import dev.sluice.controllers.EventNotifier;
import dev.sluice.controllers.translation.ClusterQueueMapper;
import dev.sluice.controllers.translation.UnsupportedFields;
import dev.sluice.controllers.world.InformerCaches;

/** A ResourceFlavor: held while a ClusterQueue gives quota for it. */
final class ResourceFlavorReconciler extends InUseFinalizerReconciler<ResourceFlavor> {

  private final InformerCaches informerCaches;
  private final PerGenerationEvents perGenerationEvents;

  ResourceFlavorReconciler(
      Leadership leadership,
      ReconcileTrigger<ResourceFlavor> reconcileTrigger,
      InformerCaches informerCaches,
      ApiPatcher writer,
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
