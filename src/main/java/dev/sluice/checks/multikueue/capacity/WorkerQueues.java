package dev.sluice.checks.multikueue.capacity;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.Quantities;
import dev.sluice.checks.multikueue.link.WhileConnected;
import dev.sluice.workloads.Workload;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Watches the queues of workers, as long as each is connected. A worker that doesn't let its queues
 * be read is one of which nothing is known.
 */
public final class WorkerQueues implements Fitting, AutoCloseable {

  private static final long PAGE = 500;
  private static final ResourceDefinitionContext LOCAL_QUEUES =
      kind("LocalQueue", "localqueues", true);
  private static final ResourceDefinitionContext CLUSTER_QUEUES =
      kind("ClusterQueue", "clusterqueues", false);

  private final ObjectMapper mapper = new ObjectMapper();
  private final WhileConnected<Watched> watched = new WhileConnected<>(Watched::by, Watched::stop);

  private record Watched(
      SharedIndexInformer<GenericKubernetesResource> localQueues,
      SharedIndexInformer<GenericKubernetesResource> clusterQueues) {

    static Watched by(KubernetesClient client) {
      Watched made = new Watched(informer(client, LOCAL_QUEUES), informer(client, CLUSTER_QUEUES));
      var unusedLocal = made.localQueues().start();
      var unusedCluster = made.clusterQueues().start();
      return made;
    }

    private static SharedIndexInformer<GenericKubernetesResource> informer(
        KubernetesClient client, ResourceDefinitionContext kind) {
      return kind.isNamespaceScoped()
          ? client
              .genericKubernetesResources(kind)
              .inAnyNamespace()
              .withLimit(PAGE)
              .runnableInformer(0)
          : client.genericKubernetesResources(kind).withLimit(PAGE).runnableInformer(0);
    }

    void stop() {
      localQueues.stop();
      clusterQueues.stop();
    }
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

  /** Watches by this client from now on; by none if it is empty. */
  public void follow(String cluster, Optional<KubernetesClient> client) {
    watched.follow(cluster, client);
  }

  @Override
  public Set<String> of(Workload workload) {
    Map<String, BigDecimal> requests = requests(workload);
    return watched.now().entrySet().stream()
        .filter(each -> fits(each.getValue(), workload, requests))
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  private boolean fits(Watched worker, Workload workload, Map<String, BigDecimal> requests) {
    String key = workload.id().namespace() + "/" + workload.spec().queueName();
    return Optional.ofNullable(worker.localQueues().getStore().getByKey(key))
        .map(queue -> mapper.valueToTree(queue).path("spec").path("clusterQueue").asText())
        .flatMap(name -> Optional.ofNullable(worker.clusterQueues().getStore().getByKey(name)))
        .filter(queue -> QueueRoom.of(mapper.valueToTree(queue)).fits(requests))
        .isPresent();
  }

  /** What it was given here is what it asks for there. */
  private static Map<String, BigDecimal> requests(Workload workload) {
    Map<String, BigDecimal> total = new HashMap<>();
    workload
        .status()
        .admission()
        .ifPresent(
            admission ->
                admission
                    .podSetAssignments()
                    .forEach(
                        podSet ->
                            podSet
                                .resourceUsage()
                                .forEach(
                                    (resource, quantity) ->
                                        total.merge(
                                            resource,
                                            Quantities.parse(quantity),
                                            BigDecimal::add))));
    return total;
  }

  @Override
  public void close() {
    watched.close();
  }
}
