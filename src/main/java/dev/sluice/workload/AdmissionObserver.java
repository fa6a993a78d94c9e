package dev.sluice.workload;

import dev.sluice.core.model.Decision;

/** Is told of decisions that stand in the API server; events, logs and metrics come of it. */
public interface AdmissionObserver {

  /**
   * A Workload was given quota. Be brief.
   *
   * @param before how it was looked at
   * @param admitted whether it was admitted at once, since it waits for no admission check
   */
  default void reserved(Decision.Admit decision, CachedWorkload before, boolean admitted) {}

  /**
   * A Workload was evicted for another one. Be brief.
   *
   * @param before how the victim was looked at
   * @param message what its conditions say
   */
  default void preempted(
      Decision.Preempt decision, Decision.Victim victim, CachedWorkload before, String message) {}

  /** It was told why a Workload waits. Be brief. */
  default void explained(Decision.Explain decision, CachedWorkload before) {}
}
