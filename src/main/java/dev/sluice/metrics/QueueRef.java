package dev.sluice.metrics;

import dev.sluice.core.model.LocalQueueId;

/**
 * Whose numbers an occurrence adds to.
 *
 * @param clusterQueue the ClusterQueue
 * @param localQueue the LocalQueue
 * @param priorityClass the class that the Workload's priority came from; empty when none
 */
public record QueueRef(String clusterQueue, LocalQueueId localQueue, String priorityClass) {}
