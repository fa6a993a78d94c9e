package dev.sluice.dashboard;

import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;

/** What a Workload is doing, in one word, in the order in which lists show them. */
enum WorkloadState {
  /** It waits for quota. */
  PENDING,
  /** It is evicted, and its job hasn't stopped yet. */
  STOPPING,
  /** Quota is reserved; admission checks are not ready. */
  RESERVED,
  /** It is admitted. */
  ADMITTED,
  /** It may not be admitted: somebody, or the operator, has deactivated it. */
  INACTIVE,
  /** It has finished. */
  FINISHED;

  /** The state of a Workload. */
  static WorkloadState of(CachedWorkload workload) {
    if (workload.finished()) {
      return FINISHED;
    }
    if (workload.evicted() && workload.quotaReserved()) {
      return STOPPING;
    }
    if (workload.admitted()) {
      return ADMITTED;
    }
    if (workload.quotaReserved()) {
      return RESERVED;
    }
    return workload.spec().active() ? PENDING : INACTIVE;
  }

  /** The condition that says why a Workload is in this state. */
  Optional<Condition> condition(CachedWorkload workload) {
    String type =
        switch (this) {
          case FINISHED -> "Finished";
          case STOPPING, INACTIVE -> "Evicted";
          case ADMITTED -> "Admitted";
          case RESERVED, PENDING -> "QuotaReserved";
        };
    return workload.status().condition(type);
  }

  /** Since when, as far as a condition says it. */
  Instant since(CachedWorkload workload) {
    return condition(workload)
        .map(Condition::lastTransitionTime)
        .filter(time -> time.isAfter(Instant.EPOCH))
        .orElse(workload.createdAt());
  }

  /** The name in documents. */
  String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
