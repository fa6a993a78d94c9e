package dev.sluice.checks.multikueue.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Quantities;
import dev.sluice.checks.multikueue.remote.ConnectionScope;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.workload.CachedWorkload;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

/**
 * Watches the queues of workers, as long as each is connected. A worker that doesn't let its queues
 * be read is one of which nothing is known.
 */
public final class WorkerQueues implements CapacityEstimator, AutoCloseable {

  private final List<Runnable> observers = new CopyOnWriteArrayList<>();
  private final ConnectionScope<RemoteQueueInformer> watched =
      new ConnectionScope<>(
          (cluster, client) -> new RemoteQueueInformer(client, this::changed),
          RemoteQueueInformer::stop);

  /** Has this run whenever the spec of a worker's queue changes; it returns soon. */
  public void observe(Runnable observer) {
    observers.add(observer);
  }

  private void changed() {
    observers.forEach(Runnable::run);
  }

  /** Watches by this client from now on; by none if it is empty. */
  public void follow(String cluster, Optional<KubernetesClient> client) {
    watched.follow(cluster, client);
  }

  @Override
  public Set<String> of(CachedWorkload workload) {
    Map<String, BigDecimal> requests = requests(workload);
    String queue = workload.id().namespace() + "/" + workload.spec().queueName();
    return watched.now().entrySet().stream()
        .filter(each -> fits(each.getValue(), queue, requests))
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  private static boolean fits(
      RemoteQueueInformer worker, String queue, Map<String, BigDecimal> requests) {
    return worker
        .clusterQueueOf(queue)
        .flatMap(worker::clusterQueue)
        .filter(found -> AvailableQuota.of(found).fits(requests))
        .isPresent();
  }

  /**
   * The quota that a connected worker guarantees to the ClusterQueues behind its LocalQueues of
   * these names, each once.
   *
   * @param localQueues as {@code namespace/name}
   */
  public NominalQuota nominal(String cluster, Collection<String> localQueues) {
    RemoteQueueInformer worker = watched.now().get(cluster);
    if (worker == null) {
      return new NominalQuota.NotYet();
    }
    if (!worker.listed()) {
      return worker
          .lastFailure()
          .<NominalQuota>map(NominalQuota.Unreadable::new)
          .orElseGet(NominalQuota.NotYet::new);
    }
    Map<String, Long> sum = new HashMap<>();
    localQueues.stream()
        .flatMap(queue -> worker.clusterQueueOf(queue).stream())
        .distinct()
        .flatMap(name -> worker.clusterQueue(name).stream())
        .forEach(queue -> add(queue, sum));
    return new NominalQuota.Known(sum);
  }

  private static void add(JsonNode clusterQueue, Map<String, Long> sum) {
    for (JsonNode group : clusterQueue.path("spec").path("resourceGroups")) {
      for (JsonNode flavor : group.path("flavors")) {
        for (JsonNode resource : flavor.path("resources")) {
          String name = resource.path("name").asText();
          long amount = Quantities.amount(name, resource.path("nominalQuota").asText("0"));
          sum.merge(name, amount, ResourceAmounts::add);
        }
      }
    }
  }

  /** What it was given here is what it asks for there. */
  private static Map<String, BigDecimal> requests(CachedWorkload workload) {
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
