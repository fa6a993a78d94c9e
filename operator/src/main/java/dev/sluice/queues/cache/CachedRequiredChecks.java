package dev.sluice.queues.cache;

import dev.sluice.queues.mapping.CheckStrategy;
import dev.sluice.workload.status.RequiredChecks;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
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
}
