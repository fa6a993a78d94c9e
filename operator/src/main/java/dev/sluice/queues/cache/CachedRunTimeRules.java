package dev.sluice.queues.cache;

import dev.sluice.api.queueing.QueueRunTime;
import dev.sluice.api.queueing.QueueRunTime.Annotations;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BiFunction;

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
    return of(namespace, localQueue, QueueRunTime::defaultOf);
  }

  /** The smaller one of the limits of a LocalQueue and its ClusterQueue. */
  public Optional<QueueRunTime> maxOf(String namespace, String localQueue) {
    return of(namespace, localQueue, QueueRunTime::maxOf);
  }

  /** The same without the queue's name. */
  public Optional<Duration> maxRunTime(String namespace, String localQueue) {
    return maxOf(namespace, localQueue).map(QueueRunTime::runTime);
  }

  private Optional<QueueRunTime> of(
      String namespace,
      String localQueue,
      BiFunction<Annotations, Annotations, Optional<QueueRunTime>> rule) {
    return informerCaches
        .localQueues()
        .find(namespace, localQueue)
        .flatMap(
            local -> {
              String name = CachedQueues.clusterQueue(local);
              return rule.apply(
                  new Annotations(
                      "LocalQueue " + namespace + "/" + localQueue,
                      local.getMetadata().getAnnotations()),
                  new Annotations(
                      "ClusterQueue " + name,
                      informerCaches
                          .clusterQueues()
                          .find(name)
                          .map(queue -> queue.getMetadata().getAnnotations())
                          .orElse(null)));
            });
  }
}
