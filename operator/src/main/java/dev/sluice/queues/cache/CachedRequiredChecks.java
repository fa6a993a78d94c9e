package dev.sluice.queues.cache;

import dev.sluice.core.model.PodSetRequest;
import dev.sluice.core.model.RequestShape;
import dev.sluice.queues.mapping.CheckStrategy;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.status.RequiredChecks;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;

/** Looks up the checks that ClusterQueues require in the informer caches. Thread-safe. */
public final class CachedRequiredChecks implements RequiredChecks {

  private final InformerCaches informerCaches;

  /** Creates a lookup in these caches. */
  public CachedRequiredChecks(InformerCaches informerCaches) {
    this.informerCaches = informerCaches;
  }

  @Override
  public Optional<SortedSet<String>> of(
      String clusterQueue,
      Optional<? extends Collection<String>> assigned,
      Map<String, String> labels) {
    return informerCaches
        .clusterQueues()
        .find(clusterQueue)
        .map(queue -> CheckStrategy.required(queue, assigned, labels));
  }

  /**
   * Why a pending Workload can't be admitted whatever flavors it gets: its status has no room for
   * the checks that it needs then.
   *
   * @param shape what it requests
   */
  public Optional<String> lackOfRoom(CachedWorkload workload, RequestShape shape) {
    return informerCaches
        .localQueues()
        .find(workload.id().namespace(), workload.spec().queueName())
        .map(CachedQueues::clusterQueue)
        .flatMap(informerCaches.clusterQueues()::find)
        .flatMap(queue -> CheckStrategy.lackOfRoom(queue, resources(shape), workload.labels()));
  }

  private static Set<String> resources(RequestShape shape) {
    Set<String> resources = new HashSet<>();
    for (PodSetRequest request : shape.podSets()) {
      if (request.count() > 0) {
        request
            .perPod()
            .forEach(
                (resource, amount) -> {
                  if (amount > 0) {
                    resources.add(resource);
                  }
                });
      }
    }
    return resources;
  }
}
