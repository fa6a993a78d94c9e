package dev.sluice.queues.cache;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.queues.mapping.CheckStrategy.CheckSelectors;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * Looks up the labels by which ClusterQueues select the Workloads that need an admission check.
 * Thread-safe.
 */
public final class CachedCheckLabels implements Supplier<Set<String>> {

  private final InformerCaches informerCaches;

  /** Creates a lookup in these caches. */
  public CachedCheckLabels(InformerCaches informerCaches) {
    this.informerCaches = informerCaches;
  }

  @Override
  public Set<String> get() {
    Set<String> keys = new TreeSet<>();
    for (ClusterQueue queue : informerCaches.clusterQueues().all()) {
      keys.addAll(CheckSelectors.of(queue.getMetadata().getAnnotations()).keys());
    }
    return keys;
  }
}
