package dev.sluice.lab.bench.month;

import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/** A job that has not ended, and its Workload as the API server has it. */
final class SimulatedJob {

  /** What a job does. */
  enum Phase {
    PENDING,
    /** Its admission is decided. */
    DECIDED,
    RUNNING,
    /** It is being evicted, and still has quota. */
    STOPPING,
    ENDED
  }

  final WorkloadId id;
  final JobTrace.Submission submission;
  final RequestShape shape;
  Phase phase = Phase.PENDING;
  Instant queuedAt;
  Instant reservedAt;
  List<PodSetAssignment> podSets = List.of();

  /** When the current run was decided, in milliseconds. */
  long decidedAt;

  int admissions;
  int failures;

  /** Counts starts and stops, so that what was planned for an earlier run is known to be void. */
  int run;

  /** Decides what goes wrong. Each job has its own, so that no tree depends on another one. */
  final SplittableRandom random;

  SimulatedJob(
      WorkloadId id,
      JobTrace.Submission submission,
      RequestShape shape,
      Instant createdAt,
      SplittableRandom random) {
    this.random = random;
    this.id = id;
    this.submission = submission;
    this.shape = shape;
    this.queuedAt = createdAt;
    this.reservedAt = createdAt;
  }

  PendingWorkload pending(long version, Instant createdAt, Optional<Instant> notBefore) {
    return new PendingWorkload(
        id,
        version,
        "queue-" + submission.queue(),
        shape,
        submission.priority(),
        createdAt,
        queuedAt,
        notBefore,
        false,
        Optional.empty());
  }

  /** The flavor that it has. */
  String flavor() {
    return podSets.getFirst().flavors().getOrDefault(DeclaredQueue.RESOURCES.getFirst(), "");
  }

  ReservingWorkload evicted(long version) {
    return new ReservingWorkload(
        id,
        version,
        "queue-" + submission.queue(),
        "queue-" + submission.queue(),
        podSets,
        submission.priority(),
        queuedAt,
        true,
        true,
        true,
        reservedAt);
  }
}
