package dev.sluice.controllers.kinds;

import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.ApiPatcher;
import dev.sluice.controllers.translation.ClusterQueueMapper;
import dev.sluice.controllers.world.InformerCaches;

/** An AdmissionCheck: held while a ClusterQueue asks for it. */
final class AdmissionCheckReconciler extends InUseFinalizerReconciler<AdmissionCheck> {

  private final InformerCaches informerCaches;

  AdmissionCheckReconciler(
      Leadership leadership, ReconcileTrigger<AdmissionCheck> reconcileTrigger, InformerCaches informerCaches, ApiPatcher writer) {
    super(leadership, reconcileTrigger, writer);
    this.informerCaches = informerCaches;
  }

  @Override
  boolean inUse(String name) {
    return informerCaches.clusterQueues().all().stream()
        .anyMatch(queue -> ClusterQueueMapper.admissionChecks(queue).contains(name));
  }
}
