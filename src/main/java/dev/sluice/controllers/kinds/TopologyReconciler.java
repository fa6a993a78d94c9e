package dev.sluice.controllers.kinds;

import dev.sluice.api.v1beta2.Topology;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.ApiPatcher;
import dev.sluice.controllers.translation.FlavorMapper;
import dev.sluice.controllers.world.InformerCaches;

/** A Topology: held while a ResourceFlavor names it. */
final class TopologyReconciler extends InUseFinalizerReconciler<Topology> {

  private final InformerCaches informerCaches;

  TopologyReconciler(
      Leadership leadership, ReconcileTrigger<Topology> reconcileTrigger, InformerCaches informerCaches, ApiPatcher writer) {
    super(leadership, reconcileTrigger, writer);
    this.informerCaches = informerCaches;
  }

  @Override
  boolean inUse(String name) {
    return informerCaches.flavors().all().stream()
        .anyMatch(flavor -> FlavorMapper.topology(flavor).filter(name::equals).isPresent());
  }
}
