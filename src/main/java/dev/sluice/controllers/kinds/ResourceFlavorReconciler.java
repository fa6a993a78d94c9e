package dev.sluice.controllers.kinds;

import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.MergePatches;
import dev.sluice.controllers.Notices;
import dev.sluice.controllers.translation.ClusterQueues;
import dev.sluice.controllers.translation.NotActedUpon;
import dev.sluice.controllers.world.World;

/** A ResourceFlavor: held while a ClusterQueue gives quota for it. */
final class ResourceFlavorReconciler extends UsedObjectReconciler<ResourceFlavor> {

  private final World world;
  private final Remarks remarks;

  ResourceFlavorReconciler(
      Leadership leadership,
      Signals<ResourceFlavor> signals,
      World world,
      MergePatches writer,
      Notices notices) {
    super(leadership, signals, writer);
    this.world = world;
    this.remarks = new Remarks(notices);
  }

  @Override
  boolean inUse(String name) {
    return world.clusterQueues().all().stream()
        .anyMatch(queue -> ClusterQueues.flavors(queue).contains(name));
  }

  @Override
  void remark(ResourceFlavor flavor) {
    remarks.say(flavor, NotActedUpon.REASON, NotActedUpon.in(flavor));
  }

  @Override
  protected void forget(ResourceFlavor flavor) {
    remarks.forget(flavor);
  }
}
