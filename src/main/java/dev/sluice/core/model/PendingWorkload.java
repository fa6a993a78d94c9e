package dev.sluice.core.model;

import java.time.Instant;
import java.util.Optional;

/**
 * A Workload that may be queued (docs/scheduling-semantics.md#what-is-pending).
 *
 * @param id which
 * @param version its resourceVersion as a number: later states have higher ones
 * @param queueName its LocalQueue, in its own namespace
 * @param shape what it asks for
 * @param priority its effective priority
 * @param createdAt when it was created
 * @param queuedAt its place in the queue: creation, or the eviction that sent it back
 * @param notBefore when its back-off ends, if it has one
 * @param held whether it must stay out of the queue until told otherwise (Requeued=False)
 * @param defect why it can't be considered whatever the quota (limits, LimitRange), if so
 * @param gated whether it may not preempt yet: one of its preemption gates is closed
 */
public record PendingWorkload(
    WorkloadId id,
    long version,
    String queueName,
    RequestShape shape,
    long priority,
    Instant createdAt,
    Instant queuedAt,
    Optional<Instant> notBefore,
    boolean held,
    Optional<String> defect,
    boolean gated) {

  /** One without closed gates. */
  public PendingWorkload(
      WorkloadId id,
      long version,
      String queueName,
      RequestShape shape,
      long priority,
      Instant createdAt,
      Instant queuedAt,
      Optional<Instant> notBefore,
      boolean held,
      Optional<String> defect) {
    this(
        id, version, queueName, shape, priority, createdAt, queuedAt, notBefore, held, defect,
        false);
  }

  /** The LocalQueue it is in. */
  public LocalQueueId localQueue() {
    return new LocalQueueId(id.namespace(), queueName);
  }
}
