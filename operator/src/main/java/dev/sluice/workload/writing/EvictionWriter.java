package dev.sluice.workload.writing;

import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.status.Evictions;
import dev.sluice.workload.status.StatusPatch;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import dev.sluice.workload.writing.WorkloadWriter.Urgency;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Evicts Workloads for those who ask for it again and again until it is done, as budgets and
 * reservations do: one write at a time of each Workload, and a rest after one that failed.
 */
public final class EvictionWriter {

  private static final Logger LOG = LoggerFactory.getLogger(EvictionWriter.class);
  private static final Duration AFTER_REFUSAL = Duration.ofSeconds(30);

  private final WorkloadWriter writer;
  private final InstantSource clock;
  private final InstantSource intervals;

  /** Until when no eviction is begun, by UID: for ever while one is being written. */
  private final Map<String, Instant> resting = new ConcurrentHashMap<>();

  /**
   * Evicts nothing yet.
   *
   * @param intervals tells how long a rest lasts
   */
  public EvictionWriter(WorkloadWriter writer, InstantSource clock, InstantSource intervals) {
    this.writer = writer;
    this.clock = clock;
    this.intervals = intervals;
  }

  /** Evicts a Workload that has quota and isn't being evicted yet. */
  public void evict(CachedWorkload workload, String reason, String message) {
    if (!workload.quotaReserved() || workload.evicted()) {
      return;
    }
    Instant begun = intervals.instant();
    resting.values().removeIf(until -> !until.isAfter(begun));
    if (resting.putIfAbsent(workload.id().uid(), Instant.MAX) != null) {
      return;
    }
    try {
      Instant now = clock.instant();
      StatusPatch patch = StatusPatch.of(workload, now);
      Evictions.evict(patch, workload, now, reason, "", message);
      var unused =
          writer
              .patchStatus(workload.id(), workload.version(), patch.build(), Urgency.DECISION)
              .whenComplete((outcome, bug) -> ended(workload, reason, outcome, bug));
    } catch (RuntimeException e) {
      ended(workload, reason, null, e);
    }
  }

  private void ended(
      CachedWorkload workload, String reason, @Nullable Outcome outcome, @Nullable Throwable bug) {
    if (bug != null) {
      LOG.error("workload={} evicted=failed for={}", workload.id(), reason, bug);
    } else if (outcome instanceof Outcome.Refused(int code, String message)) {
      LOG.warn(
          "workload={} evicted=refused for={} code={} reason=\"{}\"",
          workload.id(),
          reason,
          code,
          message);
    } else {
      resting.remove(workload.id().uid());
      return;
    }
    resting.put(workload.id().uid(), intervals.instant().plus(AFTER_REFUSAL));
  }
}
