package dev.sluice.workload.status;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.queueing.CheckpointAnnotations;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A request that a job saves its work before it is evicted (docs/preemption.md#checkpoints). It
 * stands in an annotation of the Workload, so that a restart doesn't forget it.
 */
public final class CheckpointRequest {

  /** How much older than its grace a request may be: a restart lies between it and its end. */
  private static final Duration LATE = Duration.ofMinutes(2);

  private CheckpointRequest() {}

  /** How a job has replied to a request. */
  public enum Reply {
    /**
     * Nobody asked, or so long ago that it was for another preemption, or the time is still to
     * come.
     */
    NOT_ASKED,
    /** The job may still save its work. */
    AWAITED,
    /** The job has saved its work since. */
    ANSWERED,
    /** The grace is over. */
    OVER
  }

  /**
   * Since when the job of a Workload is asked, as far as that concerns the quota that the Workload
   * has now: a request of an earlier attempt doesn't count.
   */
  public static Optional<Instant> of(CachedWorkload workload) {
    if (!workload.quotaReserved() || workload.evicted()) {
      return Optional.empty();
    }
    Instant reservedAt =
        workload
            .status()
            .condition("QuotaReserved")
            .map(CachedWorkload.Condition::lastTransitionTime)
            .orElse(Instant.EPOCH);
    return CheckpointAnnotations.requestedAt(workload.annotations())
        .filter(requestedAt -> !requestedAt.isBefore(reservedAt));
  }

  /** How a Workload has replied to its request by a time, with so long a grace. */
  public static Reply reply(CachedWorkload workload, Duration grace, Instant now) {
    Optional<Instant> requestedAt = of(workload);
    if (requestedAt.isEmpty()
        || requestedAt.get().isAfter(now)
        || requestedAt.get().plus(grace).plus(LATE).isBefore(now)) {
      return Reply.NOT_ASKED;
    }
    boolean answered =
        CheckpointAnnotations.checkpointedAt(workload.annotations())
            .filter(checkpointedAt -> !checkpointedAt.isBefore(requestedAt.get()))
            .isPresent();
    if (answered) {
      return Reply.ANSWERED;
    }
    return requestedAt.get().plus(grace).isAfter(now) ? Reply.AWAITED : Reply.OVER;
  }

  /** The merge patch of a Workload that asks its job. */
  public static ObjectNode asking(Instant now) {
    return patch(now.truncatedTo(ChronoUnit.SECONDS).toString());
  }

  /** The merge patch that takes the request back. */
  public static ObjectNode withdrawing() {
    return patch(null);
  }

  private static ObjectNode patch(@Nullable String text) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch
        .withObjectProperty("metadata")
        .withObjectProperty("annotations")
        .put(CheckpointAnnotations.REQUESTED_AT, text);
    return patch;
  }
}
