package dev.sluice.queues.cache;

import dev.sluice.kube.reading.InformerSupervisor;
import dev.sluice.kube.reconcile.ObservableItemStore;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The informers of kinds that nobody reconciles, but that decisions rest on. */
public final class AuxiliaryInformers implements AutoCloseable {

  private static final long PAGE = 500;

  private final List<SharedIndexInformer<?>> informers;

  /**
   * Informers that are not started, and that fill the stores of {@code world}; {@code kept} keeps
   * them going.
   */
  public AuxiliaryInformers(
      KubernetesClient client, InformerCaches informerCaches, InformerSupervisor kept) {
    informers =
        List.of(
            kept.keep("namespaces", informer(client.namespaces(), informerCaches.namespaces())),
            kept.keep(
                "priorityclasses",
                informer(
                    client.scheduling().v1().priorityClasses(), informerCaches.priorityClasses())));
  }

  private static <T extends HasMetadata, L extends KubernetesResourceList<T>>
      SharedIndexInformer<T> informer(
          FilterWatchListDeletable<T, L, Resource<T>> objects, ObservableItemStore<T> store) {
    return objects.withLimit(PAGE).runnableInformer(0).itemStore(store);
  }

  /** Starts them; completes when the stores hold all there is. */
  public CompletableFuture<Void> start() {
    return CompletableFuture.allOf(
        informers.stream()
            .map(informer -> informer.start().toCompletableFuture())
            .toArray(CompletableFuture[]::new));
  }

  /** Whether all of them follow the API server at present. */
  public boolean watching() {
    return informers.stream().allMatch(SharedIndexInformer::isWatching);
  }

  @Override
  public void close() {
    informers.forEach(SharedIndexInformer::stop);
  }
}
