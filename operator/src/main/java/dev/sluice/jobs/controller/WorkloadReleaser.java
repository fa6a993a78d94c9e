package dev.sluice.jobs.controller;

import dev.sluice.kube.client.Futures;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.status.WorkloadFinalizer;
import dev.sluice.workload.writing.WorkloadWriter;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Removes the finalizer of Workloads whose job doesn't exist any more. */
public final class WorkloadReleaser {

  /** The delay after which to look again at a Workload that can't be released yet. */
  public static final Duration AGAIN = Duration.ofSeconds(2);

  private static final Logger LOG = LoggerFactory.getLogger(WorkloadReleaser.class);

  /** A refused write leaves the quota held, so it is repeated. */
  private static final Duration AFTER_REFUSAL = Duration.ofSeconds(10);

  private final WorkloadWriter writer;

  /** Writes by this writer. */
  public WorkloadReleaser(WorkloadWriter writer) {
    this.writer = writer;
  }

  /**
   * Removes the finalizer of a Workload.
   *
   * @param reason why, for the log
   * @return the delay after which to try again; empty if nothing is left to do
   */
  public Optional<Duration> release(CachedWorkload workload, String reason)
      throws InterruptedException {
    WorkloadWriter.Outcome outcome =
        Futures.forResult(
            writer.patch(workload.id(), workload.version(), WorkloadFinalizer.removal(workload)));
    if (outcome instanceof WorkloadWriter.Outcome.Written) {
      LOG.info("workload={} released, reason=\"{}\"", workload.id(), reason);
    }
    return retryDelay(outcome);
  }

  /**
   * The delay after which to repeat a write that gives back quota; empty if it was written or is
   * not needed any more.
   */
  public static Optional<Duration> retryDelay(WorkloadWriter.Outcome outcome) {
    return switch (outcome) {
      case WorkloadWriter.Outcome.Written written -> Optional.empty();
      case WorkloadWriter.Outcome.Gone gone -> Optional.empty();
      case WorkloadWriter.Outcome.Conflict conflict -> Optional.of(AGAIN);
      case WorkloadWriter.Outcome.Refused refused -> Optional.of(AFTER_REFUSAL);
    };
  }
}
