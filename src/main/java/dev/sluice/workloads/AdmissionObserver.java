package dev.sluice.workloads;

import dev.sluice.model.Decision;

/** Is told of decisions that stand in the API server; events, logs and metrics come of it. */
public interface AdmissionObserver {

  /** A Workload was admitted; {@code before} is how it was looked at. Be brief. */
  default void admitted(Decision.Admit decision, Workload before) {}

  /**
   * A Workload was evicted for another one. Be brief.
   *
   * @param before how the victim was looked at
   * @param message what its conditions say
   */
  default void preempted(
      Decision.Preempt decision, Decision.Victim victim, Workload before, String message) {}

  /** It was told why a Workload waits. Be brief. */
  default void explained(Decision.Explain decision, Workload before) {}
}
