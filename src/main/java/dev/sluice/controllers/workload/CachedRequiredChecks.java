package dev.sluice.controllers.workload;

import dev.sluice.controllers.translation.CheckStrategy;
import dev.sluice.controllers.world.InformerCaches;
import dev.sluice.workloads.RequiredChecks;
import java.util.Collection;
import java.util.Optional;
import java.util.SortedSet;

/** The checks that ClusterQueueMapper ask for, by what the informers know. Usable from any thread. */
public final class CachedRequiredChecks implements RequiredChecks {

  private final InformerCaches informerCaches;

  /** Looks queues up in {@code world}. */
  public CachedRequiredChecks(InformerCaches informerCaches) {
    this.informerCaches = informerCaches;
  }

  @Override
  public Optional<SortedSet<String>> of(
      String clusterQueue, Optional<? extends Collection<String>> assigned) {
    return informerCaches
        .clusterQueues()
        .find(clusterQueue)
        .map(queue -> CheckStrategy.required(queue, assigned));
  }
}
