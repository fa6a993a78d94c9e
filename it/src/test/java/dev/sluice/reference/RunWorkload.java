package dev.sluice.reference;

import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A Workload as the API shows it at one moment.
 *
 * @param waits whether it may be given quota
 * @param clusterQueue whose quota it holds; empty when it holds none
 * @param podSets what it holds
 * @param evicted whether it is on its way out, or was sent back
 * @param preempted for whom it was preempted, if it was
 */
record RunWorkload(
    WorkloadId id,
    long version,
    String queueName,
    long priority,
    Instant createdAt,
    RequestShape shape,
    boolean waits,
    String clusterQueue,
    List<PodSetAssignment> podSets,
    boolean evicted,
    Optional<Preempted> preempted,
    Instant reservedAt,
    boolean admitted) {

  /** The condition Preempted. */
  record Preempted(String reason, String message, String since) {}

  boolean holds() {
    return !clusterQueue.isEmpty();
  }

  LocalQueueId localQueue() {
    return new LocalQueueId(id.namespace(), queueName);
  }

  /** Whether the other one comes later in the same queue: lower, younger, or last by UID. */
  boolean comesBefore(RunWorkload other) {
    if (priority != other.priority) {
      return priority > other.priority;
    }
    return createdAt.equals(other.createdAt)
        ? id.uid().compareTo(other.id.uid()) < 0
        : createdAt.isBefore(other.createdAt);
  }

  PendingWorkload pending() {
    return new PendingWorkload(
        id,
        version,
        queueName,
        shape,
        priority,
        createdAt,
        createdAt,
        Optional.empty(),
        false,
        Optional.empty());
  }

  ReservingWorkload reserving() {
    return new ReservingWorkload(
        id,
        version,
        queueName,
        clusterQueue,
        podSets,
        priority,
        createdAt,
        evicted,
        admitted,
        true,
        reservedAt);
  }
}
