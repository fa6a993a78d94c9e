package dev.sluice.core.model;

import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import java.util.OptionalInt;

/**
 * The part of a LocalQueue's spec that the engine needs.
 *
 * @param id identity of the LocalQueue
 * @param clusterQueue name of the ClusterQueue that the LocalQueue feeds
 * @param stopPolicy whether the LocalQueue is stopped
 * @param weight the divisor of the usage over time, for admission fair sharing
 * @param maxWorkloads the most Workloads that may have quota reserved; empty: no limit
 */
public record LocalQueueSpec(
    LocalQueueId id,
    String clusterQueue,
    StopPolicy stopPolicy,
    double weight,
    OptionalInt maxWorkloads) {

  /** A LocalQueue whose Workloads may all have quota at the same time. */
  public LocalQueueSpec(
      LocalQueueId id, String clusterQueue, StopPolicy stopPolicy, double weight) {
    this(id, clusterQueue, stopPolicy, weight, OptionalInt.empty());
  }

  /** A LocalQueue of weight 1. */
  public LocalQueueSpec(LocalQueueId id, String clusterQueue, StopPolicy stopPolicy) {
    this(id, clusterQueue, stopPolicy, 1);
  }
}
