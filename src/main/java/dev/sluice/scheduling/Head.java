package dev.sluice.scheduling;

import dev.sluice.queue.PendingItem;
import dev.sluice.queue.QueueState;

/** The Workload of a queue that a cycle looks at. */
public record Head(QueueState queue, PendingItem item) {}
