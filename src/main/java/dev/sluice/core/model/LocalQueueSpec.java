package dev.sluice.core.model;

import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;

/**
 * The part of a LocalQueue's spec that the engine needs.
 *
 * @param id identity of the LocalQueue
 * @param clusterQueue name of the ClusterQueue that the LocalQueue feeds
 * @param stopPolicy whether the LocalQueue is stopped
 * @param weight the divisor of the usage over time, for admission fair sharing
 */
public record LocalQueueSpec(
    LocalQueueId id, String clusterQueue, StopPolicy stopPolicy, double weight) {

  /** A LocalQueue of weight 1. */
  public LocalQueueSpec(LocalQueueId id, String clusterQueue, StopPolicy stopPolicy) {
    this(id, clusterQueue, stopPolicy, 1);
  }
}
