package dev.sluice.kubequeue;

import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import java.util.Optional;

/**
 * The phase that the QueueUnit of a Workload shows: a pure function of the Workload and of whether
 * its job runs.
 *
 * @param name the phase
 * @param message why; empty if there is nothing to say
 */
record WorkloadPhase(String name, String message) {

  private static final String TIMEOUT = "PodsReadyTimeout";

  /**
   * The phase of a Workload.
   *
   * @param running whether the pods of its job run
   */
  static WorkloadPhase of(CachedWorkload workload, boolean running) {
    Optional<Condition> finished = when(workload, "Finished");
    if (finished.isPresent()) {
      boolean succeeded = finished.get().reason().equals("Succeeded");
      return of(succeeded ? UnitPhase.SUCCEED : UnitPhase.FAILED, finished.get());
    }
    Optional<Condition> evicted = when(workload, "Evicted");
    if (evicted.isPresent() && workload.quotaReserved()) {
      boolean late = evicted.get().reason().equals(TIMEOUT);
      return of(late ? UnitPhase.TIMEOUT_BACKOFF : UnitPhase.PREEMPTED, evicted.get());
    }
    if (workload.admitted()) {
      return of(running ? UnitPhase.RUNNING : UnitPhase.DEQUEUED, condition(workload, "Admitted"));
    }
    if (workload.quotaReserved()) {
      return of(UnitPhase.RESERVED, condition(workload, "QuotaReserved"));
    }
    Optional<Condition> requeued = condition(workload, "Requeued");
    boolean pausing =
        requeued
            .filter(it -> it.status().equals("False") && it.reason().equals(TIMEOUT))
            .isPresent();
    return pausing
        ? of(UnitPhase.TIMEOUT_BACKOFF, requeued)
        : of(UnitPhase.ENQUEUED, condition(workload, "QuotaReserved"));
  }

  private static WorkloadPhase of(String phase, Condition condition) {
    return new WorkloadPhase(phase, condition.message());
  }

  private static WorkloadPhase of(String phase, Optional<Condition> condition) {
    return new WorkloadPhase(phase, condition.map(Condition::message).orElse(""));
  }

  private static Optional<Condition> condition(CachedWorkload workload, String type) {
    return workload.status().condition(type);
  }

  private static Optional<Condition> when(CachedWorkload workload, String type) {
    return condition(workload, type).filter(it -> it.status().equals("True"));
  }
}
