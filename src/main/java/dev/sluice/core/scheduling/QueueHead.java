package dev.sluice.core.scheduling;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;

/** A queue and its head, which a cycle evaluates. */
public record QueueHead(ClusterQueueCache queue, QueuedWorkload item) {}
