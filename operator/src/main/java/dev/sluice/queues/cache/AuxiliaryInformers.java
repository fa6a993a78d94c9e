package dev.sluice.queues.cache;

import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.kube.reflect.InformerSupervisor;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Informers of kinds without a reconciler that scheduling decisions depend on. */
public final class AuxiliaryInformers implements AutoCloseable {

  private static final long PAGE_SIZE = 500;

  private final List<SharedIndexInformer<?>> informers;

  /**
   * Creates informers without starting them.
   *
   * @param client client of the API server
   * @param informerCaches the stores to fill
   * @param informerSupervisor restarts failed watches
   */
  public AuxiliaryInformers(
      KubernetesClient client,
      InformerCaches informerCaches,
      InformerSupervisor informerSupervisor) {
    informers =
        List.of(
            informerSupervisor.keep(
                "namespaces", informer(client.namespaces(), informerCaches.namespaces())),
            informerSupervisor.keep(
                "priorityclasses",
                informer(
                    client.scheduling().v1().priorityClasses(), informerCaches.priorityClasses())));
  }

  private static <T extends HasMetadata, L extends KubernetesResourceList<T>>
      SharedIndexInformer<T> informer(
          FilterWatchListDeletable<T, L, Resource<T>> objects, ObservableItemStore<T> store) {
    return objects.withLimit(PAGE_SIZE).runnableInformer(0).itemStore(store);
  }

  /** Starts the informers; completes when their stores are synced. */
  public CompletableFuture<Void> start() {
    return CompletableFuture.allOf(
        informers.stream()
            .map(informer -> informer.start().toCompletableFuture())
            .toArray(CompletableFuture[]::new));
  }

  @Override
  public void close() {
    informers.forEach(SharedIndexInformer::stop);
  }
}
