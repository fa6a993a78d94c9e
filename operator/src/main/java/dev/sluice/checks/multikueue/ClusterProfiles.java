package dev.sluice.checks.multikueue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.checks.multikueue.remote.ConnectionContext;
import dev.sluice.kube.reflect.GuardedEventHandler;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ClusterProfiles of the operator's own namespace. If the API server does not serve the kind,
 * the set is empty and the listing is retried.
 */
final class ClusterProfiles implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ClusterProfiles.class);
  private static final Duration RETRY_DELAY = Duration.ofSeconds(30);
  private static final long PAGE_SIZE = 500;
  private static final ResourceDefinitionContext KIND =
      new ResourceDefinitionContext.Builder()
          .withGroup("multicluster.x-k8s.io")
          .withVersion("v1alpha1")
          .withKind("ClusterProfile")
          .withPlural("clusterprofiles")
          .withNamespaced(true)
          .build();

  private final KubernetesClient client;
  private final String namespace;
  private final ConnectionContext connectionContext;
  private final Runnable changed;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable SharedIndexInformer<GenericKubernetesResource> informer;
  private boolean closed;
  private volatile boolean listed;

  /**
   * Creates the reader without reading anything.
   *
   * @param changed runs after a ClusterProfile changed and after the first listing ended
   */
  ClusterProfiles(
      KubernetesClient client,
      String namespace,
      ConnectionContext connectionContext,
      Runnable changed) {
    this.client = client;
    this.namespace = namespace;
    this.connectionContext = connectionContext;
    this.changed = changed;
  }

  /** Starts reading, on another thread. */
  void start() {
    connectionContext.io().execute(this::refresh);
  }

  /**
   * Lists once before the informer starts: an informer logs many errors for a kind that the API
   * server does not serve.
   */
  private void refresh() {
    try {
      var unused =
          client
              .genericKubernetesResources(KIND)
              .inNamespace(namespace)
              .list(new ListOptionsBuilder().withLimit(1L).build());
    } catch (KubernetesClientException e) {
      onListResult(e);
      return;
    }
    startInformer();
  }

  private void startInformer() {
    SharedIndexInformer<GenericKubernetesResource> newInformer =
        client
            .genericKubernetesResources(KIND)
            .inNamespace(namespace)
            .withLimit(PAGE_SIZE)
            .runnableInformer(0);
    newInformer.exceptionHandler((onListResult, failure) -> onListResult);
    lock.lock();
    try {
      if (closed) {
        return;
      }
      informer = newInformer;
    } finally {
      lock.unlock();
    }
    GuardedEventHandler.add(newInformer, new ChangeHandler());
    var unused = newInformer.start().whenComplete((any, failure) -> onListResult(failure));
  }

  private void onListResult(@Nullable Throwable failure) {
    boolean firstResult = !listed;
    listed = true;
    if (failure != null) {
      if (firstResult) {
        LOG.warn("clusterprofiles=unread reason=\"{}\"", failure.getMessage());
      }
      connectionContext.delays().after(RETRY_DELAY, this::start);
    }
    if (firstResult || failure == null) {
      changed.run();
    }
  }

  /** Whether the first listing has ended. */
  boolean listed() {
    return listed;
  }

  /** The ClusterProfile of this name. */
  Optional<JsonNode> find(String name) {
    lock.lock();
    try {
      return informer == null
          ? Optional.empty()
          : Optional.ofNullable(informer.getStore().getByKey(namespace + "/" + name))
              .map(JsonMappers.JSON::valueToTree);
    } finally {
      lock.unlock();
    }
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

  private final class ChangeHandler implements ResourceEventHandler<GenericKubernetesResource> {

    @Override
    public void onAdd(GenericKubernetesResource profile) {
      changed.run();
    }

    @Override
    public void onUpdate(GenericKubernetesResource before, GenericKubernetesResource after) {
      changed.run();
    }

    @Override
    public void onDelete(GenericKubernetesResource profile, boolean unknown) {
      changed.run();
    }
  }
}
