package dev.sluice.kube.definitions;

import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.kube.reflect.InformerSupervisor;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The CustomResourceDefinitions of the cluster, kept up to date by one watch. Readable from any
 * thread.
 */
public final class ServedDefinitions implements AutoCloseable {

  private static final long PAGE = 50;

  private final KubernetesClient client;
  private final InformerSupervisor supervisor;
  private final ObservableItemStore<DefinitionResource> definitions = new ObservableItemStore<>();
  private final ReentrantLock lock = new ReentrantLock();

  // All of these are guarded by the lock.
  private @Nullable SharedIndexInformer<DefinitionResource> informer;
  private @Nullable CompletableFuture<Void> listed;
  private boolean closed;

  /** Knows of no definition until it is started. */
  public ServedDefinitions(KubernetesClient client, InformerSupervisor supervisor) {
    this.client = client;
    this.supervisor = supervisor;
  }

  /**
   * Adds an observer of changes.
   *
   * @param observer gets the name of a definition that appeared, changed or went, on the thread of
   *     the watch
   */
  public void observe(Consumer<String> observer) {
    definitions.observe(
        (before, after) -> {
          DefinitionResource either = after == null ? before : after;
          if (either != null) {
            observer.accept(either.getMetadata().getName());
          }
        });
  }

  /**
   * Starts the watch, if it isn't started yet. From now on the client reads definitions of any
   * watch as this does.
   *
   * @return completes when every definition is known; never if this was closed before
   */
  public CompletableFuture<Void> start() {
    lock.lock();
    try {
      if (closed) {
        return new CompletableFuture<>();
      }
      CompletableFuture<Void> begun = listed == null ? begin() : listed;
      listed = begun;
      return begun.copy();
    } finally {
      lock.unlock();
    }
  }

  private CompletableFuture<Void> begin() {
    client.getKubernetesSerialization().registerKubernetesResource(DefinitionResource.class);
    SharedIndexInformer<DefinitionResource> started =
        client
            .resources(DefinitionResource.class)
            .withLimit(PAGE)
            .runnableInformer(0)
            .itemStore(definitions);
    informer = started;
    return supervisor.keep("customresourcedefinitions", started).start().toCompletableFuture();
  }

  /**
   * Whether the API server serves a version of a kind.
   *
   * @param name of the definition: plural and group, with a dot between them
   */
  public boolean serves(String name, String version) {
    return definitions
        .find(name)
        .filter(definition -> definition.served().contains(version))
        .isPresent();
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      if (informer != null) {
        informer.stop();
      }
    } finally {
      lock.unlock();
    }
  }
}
