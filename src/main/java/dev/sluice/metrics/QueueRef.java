package dev.sluice.metrics;

import dev.sluice.core.model.LocalQueueId;

/**
 * The queue and priority class that a measurement belongs to.
 *
 * @param clusterQueue the ClusterQueue
 * @param localQueue the LocalQueue
 * @param priorityClass the priority class of the Workload; empty if it has none
 */
public record QueueRef(String clusterQueue, LocalQueueId localQueue, String priorityClass) {}
