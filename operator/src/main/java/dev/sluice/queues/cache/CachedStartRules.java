package dev.sluice.queues.cache;

import dev.sluice.api.queueing.StartRules;
import dev.sluice.workload.record.CachedWorkload;
import java.util.function.Function;

/**
 * Looks up what the ClusterQueue of a Workload says about starts: the one whose quota is reserved,
 * else the one that its LocalQueue feeds. Thread-safe.
 */
public final class CachedStartRules implements Function<CachedWorkload, StartRules> {

  private final InformerCaches informerCaches;

  /** Creates a lookup in these caches. */
  public CachedStartRules(InformerCaches informerCaches) {
    this.informerCaches = informerCaches;
  }

  @Override
  public StartRules apply(CachedWorkload workload) {
    String clusterQueue =
        workload
            .status()
            .admission()
            .map(CachedWorkload.Admission::clusterQueue)
            .or(
                () ->
                    informerCaches
                        .localQueues()
                        .find(workload.id().namespace(), workload.spec().queueName())
                        .map(CachedQueues::clusterQueue))
            .orElse("");
    return informerCaches
        .clusterQueues()
        .find(clusterQueue)
        .map(queue -> StartRules.of(queue.getMetadata().getAnnotations()))
        .orElse(StartRules.NONE);
  }
}
