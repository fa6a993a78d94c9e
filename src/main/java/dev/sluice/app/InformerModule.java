package dev.sluice.app;

import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.queues.cache.AuxiliaryInformers;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.cache.LocalClusters;
import dev.sluice.workload.KubernetesResourceContext;
import java.io.IOException;

/**
 * The caches of everything but Workloads and jobs, and the informers of the kinds that no
 * reconciler watches.
 */
final class InformerModule implements OperatorModule {

  private final InformerCaches caches = InformerCaches.empty(BuiltInCheckControllers.all());
  private final LocalClusters localClusters = new LocalClusters(caches);
  private final AuxiliaryInformers informers;
  private final KubernetesResourceContext resources;

  /** Empty caches. */
  InformerModule(OperatorContext context) {
    informers = new AuxiliaryInformers(context.client(), caches, context.informers());
    resources = new KubernetesResourceContext(context.client(), context.informers());
  }

  InformerCaches caches() {
    return caches;
  }

  /** Which worker clusters are this cluster. */
  LocalClusters localClusters() {
    return localClusters;
  }

  /** Limits of namespaces and overheads of runtime classes. */
  KubernetesResourceContext resources() {
    return resources;
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    cacheSync.await("namespaces and priority classes", informers.start());
    cacheSync.await("limits and runtime classes", resources.start());
  }

  @Override
  public void close() {
    try (resources;
        informers) {
      // The resources are closed in reverse order.
    }
  }
}
