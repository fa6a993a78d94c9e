package dev.sluice.core.engine;

import dev.sluice.core.model.LocalQueueId;
import java.util.LinkedHashSet;
import java.util.Set;

/** Queues whose published views are out of date, and whether quota trees have to be rebuilt. */
final class DirtySet {

  final Set<String> clusterQueues = new LinkedHashSet<>();
  final Set<LocalQueueId> localQueues = new LinkedHashSet<>();

  /** Specs changed: the quota trees have to be rebuilt before the next decision. */
  boolean everything;

  /** Every view is out of date. */
  boolean all;

  void touched(String clusterQueue, LocalQueueId localQueue) {
    if (!clusterQueue.isEmpty()) {
      clusterQueues.add(clusterQueue);
    }
    localQueues.add(localQueue);
  }

  boolean isEmpty() {
    return !all && clusterQueues.isEmpty() && localQueues.isEmpty();
  }

  void clear() {
    clusterQueues.clear();
    localQueues.clear();
    all = false;
  }
}
