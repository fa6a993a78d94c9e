package dev.sluice.core.engine;

import dev.sluice.core.model.WorkloadId;
import java.time.Instant;

/**
 * Position of a pending Workload.
 *
 * @param id identity of the Workload
 * @param queueName name of the LocalQueue
 * @param priority effective priority
 * @param createdAt time of creation
 * @param inClusterQueue position in the ClusterQueue, from 0
 * @param inLocalQueue position among the Workloads of the LocalQueue, from 0
 * @param inadmissible whether the Workload waits for a change
 */
public record PendingPosition(
    WorkloadId id,
    String queueName,
    long priority,
    Instant createdAt,
    int inClusterQueue,
    int inLocalQueue,
    boolean inadmissible) {}
