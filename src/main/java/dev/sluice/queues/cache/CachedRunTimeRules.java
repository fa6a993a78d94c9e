package dev.sluice.queues.cache;

import dev.sluice.api.queueing.QueueRunTime;
import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.LocalQueue;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Looks up what the queues of a job say about its run time (docs/run-times.md#queues). Thread-safe.
 */
public final class CachedRunTimeRules {

  private final InformerCaches informerCaches;

  /** Creates a lookup in these caches. */
  public CachedRunTimeRules(InformerCaches informerCaches) {
    this.informerCaches = informerCaches;
  }

  /** The ClusterQueue that a LocalQueue names; empty if it isn't known. */
  public String clusterQueue(String namespace, String localQueue) {
    return informerCaches
        .localQueues()
        .find(namespace, localQueue)
        .map(CachedQueues::clusterQueue)
        .orElse("");
  }

  /** The default of a LocalQueue, else that of its ClusterQueue. */
  public Optional<QueueRunTime> defaultOf(String namespace, String localQueue) {
    return of(namespace, localQueue)
        .flatMap(
            queues ->
                queues
                    .ofLocal(RunTimeAnnotations::defaultOf)
                    .or(() -> queues.ofCluster(RunTimeAnnotations::defaultOf)));
  }

  /** The smaller one of the limits of a LocalQueue and its ClusterQueue. */
  public Optional<QueueRunTime> maxOf(String namespace, String localQueue) {
    return of(namespace, localQueue)
        .flatMap(
            queues -> {
              Optional<QueueRunTime> local = queues.ofLocal(RunTimeAnnotations::maxOf);
              Optional<QueueRunTime> cluster = queues.ofCluster(RunTimeAnnotations::maxOf);
              return local
                  .filter(
                      limit ->
                          cluster.isEmpty()
                              || limit.runTime().compareTo(cluster.get().runTime()) <= 0)
                  .or(() -> cluster);
            });
  }

  /** The same without the queue's name. */
  public Optional<Duration> maxRunTime(String namespace, String localQueue) {
    return maxOf(namespace, localQueue).map(QueueRunTime::runTime);
  }

  private Optional<Queues> of(String namespace, String localQueue) {
    return informerCaches
        .localQueues()
        .find(namespace, localQueue)
        .map(
            local ->
                new Queues(
                    local, informerCaches.clusterQueues().find(CachedQueues.clusterQueue(local))));
  }

  private record Queues(LocalQueue local, Optional<ClusterQueue> cluster) {

    Optional<QueueRunTime> ofLocal(
        Function<@Nullable Map<String, String>, Optional<Duration>> value) {
      return value
          .apply(local.getMetadata().getAnnotations())
          .map(
              found ->
                  new QueueRunTime(
                      found,
                      "LocalQueue "
                          + local.getMetadata().getNamespace()
                          + "/"
                          + local.getMetadata().getName()));
    }

    Optional<QueueRunTime> ofCluster(
        Function<@Nullable Map<String, String>, Optional<Duration>> value) {
      return cluster.flatMap(
          queue ->
              value
                  .apply(queue.getMetadata().getAnnotations())
                  .map(
                      found ->
                          new QueueRunTime(
                              found, "ClusterQueue " + queue.getMetadata().getName())));
    }
  }
}
