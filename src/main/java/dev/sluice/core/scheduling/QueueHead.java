package dev.sluice.core.scheduling;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;

/** The Workload of a queue that a cycle looks at. */
public record QueueHead(ClusterQueueCache queue, QueuedWorkload item) {}
