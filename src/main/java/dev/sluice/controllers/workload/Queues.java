package dev.sluice.controllers.workload;

/**
 * How the queues of a Workload stand.
 *
 * @param local its LocalQueue
 * @param cluster the ClusterQueue whose quota it holds; while it holds none, the one behind its
 *     LocalQueue
 */
public record Queues(QueueStanding local, QueueStanding cluster) {}
