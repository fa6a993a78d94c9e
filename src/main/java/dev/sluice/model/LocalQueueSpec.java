package dev.sluice.model;

import dev.sluice.model.ClusterQueueSpec.StopPolicy;

/** A LocalQueue: the ClusterQueue behind it, and whether it is stopped. */
public record LocalQueueSpec(LocalQueueId id, String clusterQueue, StopPolicy stopPolicy) {}
