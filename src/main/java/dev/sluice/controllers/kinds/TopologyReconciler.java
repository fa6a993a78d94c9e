package dev.sluice.controllers.kinds;

import dev.sluice.api.v1beta2.Topology;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.MergePatches;
import dev.sluice.controllers.translation.Flavors;
import dev.sluice.controllers.world.World;

/** A Topology: held while a ResourceFlavor names it. */
final class TopologyReconciler extends UsedObjectReconciler<Topology> {

  private final World world;

  TopologyReconciler(
      Leadership leadership, Signals<Topology> signals, World world, MergePatches writer) {
    super(leadership, signals, writer);
    this.world = world;
  }

  @Override
  boolean inUse(String name) {
    return world.flavors().all().stream()
        .anyMatch(flavor -> Flavors.topology(flavor).filter(name::equals).isPresent());
  }
}
