package dev.sluice.app.module;

import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.queues.cache.AuxiliaryInformers;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.cache.LocalClusters;
import dev.sluice.workload.record.KubernetesResourceContext;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/**
 * The caches of everything but Workloads and jobs, and the informers of the kinds that no
 * reconciler watches.
 */
public final class InformerModule implements OperatorModule {

  private final InformerCaches caches = InformerCaches.empty(BuiltInCheckControllers.all());
  private final LocalClusters localClusters = new LocalClusters(caches);
  private final AuxiliaryInformers informers;
  private final KubernetesResourceContext resources;
  private CompletableFuture<Void> informersListed = new CompletableFuture<>();
  private CompletableFuture<Void> resourcesListed = new CompletableFuture<>();

  /** Empty caches. */
  public InformerModule(OperatorContext context) {
    informers = new AuxiliaryInformers(context.client(), caches, context.informers());
    resources = new KubernetesResourceContext(context.client(), context.informers());
  }

  /** The informer caches of this cluster, which all modules share. */
  public InformerCaches caches() {
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

  /** Begins the listings; returns at once. To be called before the start. */
  public void beginListing() {
    informersListed = informers.start();
    resourcesListed = resources.start();
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    cacheSync.await("namespaces and priority classes", informersListed);
    cacheSync.await("limits and runtime classes", resourcesListed);
  }

  @Override
  public void close() {
    try (resources;
        informers) {
      // The resources are closed in reverse order.
    }
  }
}
