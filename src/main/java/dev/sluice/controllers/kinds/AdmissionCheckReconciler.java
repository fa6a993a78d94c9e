package dev.sluice.controllers.kinds;

import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.MergePatches;
import dev.sluice.controllers.translation.ClusterQueues;
import dev.sluice.controllers.world.World;

/** An AdmissionCheck: held while a ClusterQueue asks for it. */
final class AdmissionCheckReconciler extends UsedObjectReconciler<AdmissionCheck> {

  private final World world;

  AdmissionCheckReconciler(
      Leadership leadership, Signals<AdmissionCheck> signals, World world, MergePatches writer) {
    super(leadership, signals, writer);
    this.world = world;
  }

  @Override
  boolean inUse(String name) {
    return world.clusterQueues().all().stream()
        .anyMatch(queue -> ClusterQueues.admissionChecks(queue).contains(name));
  }
}
