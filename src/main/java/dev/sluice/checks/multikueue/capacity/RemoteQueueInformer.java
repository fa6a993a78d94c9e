package dev.sluice.checks.multikueue.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.reading.GuardedEventHandler;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.Objects;
import java.util.Optional;

/** Watches the queues of one worker for the lifetime of one connection. */
final class RemoteQueueInformer {

  private static final long PAGE_SIZE = 500;
  private static final ResourceDefinitionContext LOCAL_QUEUES =
      kind("LocalQueue", "localqueues", true);
  private static final ResourceDefinitionContext CLUSTER_QUEUES =
      kind("ClusterQueue", "clusterqueues", false);

  private final SharedIndexInformer<GenericKubernetesResource> localQueues;
  private final SharedIndexInformer<GenericKubernetesResource> clusterQueues;
  private volatile Optional<String> lastFailure = Optional.empty();

  /**
   * Starts watching.
   *
   * @param changed runs when the spec of a queue changed
   */
  RemoteQueueInformer(KubernetesClient client, Runnable changed) {
    this.localQueues = start(client, LOCAL_QUEUES, changed);
    this.clusterQueues = start(client, CLUSTER_QUEUES, changed);
  }

  private SharedIndexInformer<GenericKubernetesResource> start(
      KubernetesClient client, ResourceDefinitionContext kind, Runnable changed) {
    SharedIndexInformer<GenericKubernetesResource> informer =
        kind.isNamespaceScoped()
            ? client
                .genericKubernetesResources(kind)
                .inAnyNamespace()
                .withLimit(PAGE_SIZE)
                .runnableInformer(0)
            : client.genericKubernetesResources(kind).withLimit(PAGE_SIZE).runnableInformer(0);
    informer.exceptionHandler(
        (started, failure) -> {
          lastFailure = Optional.of(String.valueOf(failure.getMessage()));
          changed.run();
          return true;
        });
    GuardedEventHandler.add(informer, new SpecChangeHandler(changed));
    var unused = informer.start().thenRun(changed);
    return informer;
  }

  private static ResourceDefinitionContext kind(String kind, String plural, boolean namespaced) {
    return new ResourceDefinitionContext.Builder()
        .withGroup("kueue.x-k8s.io")
        .withVersion("v1beta2")
        .withKind(kind)
        .withPlural(plural)
        .withNamespaced(namespaced)
        .build();
  }

  /** Whether all queues were listed once. */
  boolean listed() {
    return localQueues.hasSynced() && clusterQueues.hasSynced();
  }

  /** The message of the last failure to read the queues. */
  Optional<String> lastFailure() {
    return lastFailure;
  }

  /** The name of the ClusterQueue of a LocalQueue ({@code namespace/name}). */
  Optional<String> clusterQueueOf(String localQueue) {
    return Optional.ofNullable(localQueues.getStore().getByKey(localQueue))
        .map(
            queue -> JsonMappers.JSON.valueToTree(queue).path("spec").path("clusterQueue").asText())
        .filter(name -> !name.isEmpty());
  }

  /** The ClusterQueue of this name. */
  Optional<JsonNode> clusterQueue(String name) {
    return Optional.ofNullable(clusterQueues.getStore().getByKey(name))
        .map(JsonMappers.JSON::valueToTree);
  }

  void stop() {
    localQueues.stop();
    clusterQueues.stop();
  }

  /** Reports changes of specs only: the status changes with every Workload. */
  private static final class SpecChangeHandler
      implements ResourceEventHandler<GenericKubernetesResource> {

    private final Runnable changed;

    SpecChangeHandler(Runnable changed) {
      this.changed = changed;
    }

    @Override
    public void onAdd(GenericKubernetesResource queue) {
      changed.run();
    }

    @Override
    public void onUpdate(GenericKubernetesResource before, GenericKubernetesResource after) {
      if (!Objects.equals(
          before.getMetadata().getGeneration(), after.getMetadata().getGeneration())) {
        changed.run();
      }
    }

    @Override
    public void onDelete(GenericKubernetesResource queue, boolean unknown) {
      changed.run();
    }
  }
}
