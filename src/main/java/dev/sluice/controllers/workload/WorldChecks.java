package dev.sluice.controllers.workload;

import dev.sluice.controllers.translation.CheckStrategy;
import dev.sluice.controllers.world.World;
import dev.sluice.workloads.RequiredChecks;
import java.util.Collection;
import java.util.Optional;
import java.util.SortedSet;

/** The checks that ClusterQueues ask for, by what the informers know. Usable from any thread. */
public final class WorldChecks implements RequiredChecks {

  private final World world;

  /** Looks queues up in {@code world}. */
  public WorldChecks(World world) {
    this.world = world;
  }

  @Override
  public Optional<SortedSet<String>> of(
      String clusterQueue, Optional<? extends Collection<String>> assigned) {
    return world
        .clusterQueues()
        .find(clusterQueue)
        .map(queue -> CheckStrategy.required(queue, assigned));
  }
}
