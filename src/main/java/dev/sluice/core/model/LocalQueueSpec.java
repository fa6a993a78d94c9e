package dev.sluice.core.model;

import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;

/**
 * A LocalQueue.
 *
 * @param id which
 * @param clusterQueue the ClusterQueue behind it
 * @param stopPolicy whether it is stopped
 * @param weight by what its past use is divided, where LocalQueues take turns by that
 */
public record LocalQueueSpec(
    LocalQueueId id, String clusterQueue, StopPolicy stopPolicy, double weight) {

  /** One of weight 1. */
  public LocalQueueSpec(LocalQueueId id, String clusterQueue, StopPolicy stopPolicy) {
    this(id, clusterQueue, stopPolicy, 1);
  }
}
