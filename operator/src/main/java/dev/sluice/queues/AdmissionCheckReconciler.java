package dev.sluice.queues;

import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.mapping.ClusterQueueMapper;

/** Reconciles an AdmissionCheck: keeps its finalizer while a ClusterQueue uses the check. */
final class AdmissionCheckReconciler extends InUseFinalizerReconciler<AdmissionCheck> {

  private final InformerCaches informerCaches;

  AdmissionCheckReconciler(
      Leadership leadership,
      ReconcileTrigger<AdmissionCheck> reconcileTrigger,
      InformerCaches informerCaches,
      ApiClient writer) {
    super(leadership, reconcileTrigger, writer);
    this.informerCaches = informerCaches;
  }

  @Override
  boolean inUse(String name) {
    return informerCaches.clusterQueues().all().stream()
        .anyMatch(queue -> ClusterQueueMapper.admissionChecks(queue).contains(name));
  }
}
