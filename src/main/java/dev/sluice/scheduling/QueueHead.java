package dev.sluice.scheduling;

import dev.sluice.queue.QueuedWorkload;
import dev.sluice.queue.ClusterQueueCache;

/** The Workload of a queue that a cycle looks at. */
public record QueueHead(ClusterQueueCache queue, QueuedWorkload item) {}
