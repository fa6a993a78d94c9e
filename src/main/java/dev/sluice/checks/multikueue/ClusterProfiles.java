package dev.sluice.checks.multikueue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.checks.multikueue.remote.ConnectionContext;
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
 * The ClusterProfiles of the operator's own namespace. Where nobody serves them there are none, and
 * they are asked for again.
 */
final class ClusterProfiles implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ClusterProfiles.class);
  private static final Duration AGAIN = Duration.ofSeconds(30);
  private static final long PAGE = 500;
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
  private final ObjectMapper mapper = new ObjectMapper();
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable SharedIndexInformer<GenericKubernetesResource> informer;
  private boolean closed;
  private volatile boolean listed;

  /**
   * Nothing is read yet.
   *
   * @param changed is run when any of them changed, or when it gets known which there are
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

  /** Begins to read, on another thread. */
  void start() {
    connectionContext.io().execute(this::refresh);
  }

  /** Asks first: an informer makes much noise about a kind that nobody serves. */
  private void refresh() {
    try {
      var unused =
          client
              .genericKubernetesResources(KIND)
              .inNamespace(namespace)
              .list(new ListOptionsBuilder().withLimit(1L).build());
    } catch (KubernetesClientException e) {
      started(e);
      return;
    }
    begin();
  }

  private void begin() {
    SharedIndexInformer<GenericKubernetesResource> begun =
        client
            .genericKubernetesResources(KIND)
            .inNamespace(namespace)
            .withLimit(PAGE)
            .runnableInformer(0);
    begun.exceptionHandler((started, failure) -> started);
    lock.lock();
    try {
      if (closed) {
        return;
      }
      informer = begun;
    } finally {
      lock.unlock();
    }
    begun.addEventHandler(new Changes());
    var unused = begun.start().whenComplete((any, failure) -> started(failure));
  }

  private void started(@Nullable Throwable failure) {
    boolean news = !listed;
    listed = true;
    if (failure != null) {
      if (news) {
        LOG.warn("clusterprofiles=unread reason=\"{}\"", failure.getMessage());
      }
      connectionContext.delays().after(AGAIN, this::start);
    }
    if (news || failure == null) {
      changed.run();
    }
  }

  /** Whether it is known which there are. */
  boolean listed() {
    return listed;
  }

  /** The one of this name. */
  Optional<JsonNode> find(String name) {
    lock.lock();
    try {
      return informer == null
          ? Optional.empty()
          : Optional.ofNullable(informer.getStore().getByKey(namespace + "/" + name))
              .map(mapper::valueToTree);
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

  private final class Changes implements ResourceEventHandler<GenericKubernetesResource> {

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
