package dev.sluice.core.engine;

import dev.sluice.core.model.WorkloadId;
import java.time.Instant;

/**
 * A pending Workload's place.
 *
 * @param id which
 * @param queueName its LocalQueue
 * @param priority its effective priority
 * @param createdAt when it was created
 * @param inClusterQueue its place in the ClusterQueue, from 0
 * @param inLocalQueue its place among those of its LocalQueue, from 0
 * @param inadmissible whether it waits for something to change
 */
public record PendingPosition(
    WorkloadId id,
    String queueName,
    long priority,
    Instant createdAt,
    int inClusterQueue,
    int inLocalQueue,
    boolean inadmissible) {}
