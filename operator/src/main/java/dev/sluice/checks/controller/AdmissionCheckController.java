package dev.sluice.checks.controller;

import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckSpec;
import dev.sluice.queues.mapping.CheckControllerDescription;
import java.util.Optional;

/**
 * A controller of AdmissionChecks: says which checks can be used. It decides only; {@link
 * CheckConditionReconciler} writes. Thread-safe.
 */
public interface AdmissionCheckController {

  /** What queues, jobs and webhooks have to know of the controller. */
  CheckControllerDescription description();

  /**
   * Whether a check of this controller can be used: whether its parameters are right, and all that
   * they name is there.
   *
   * @return the condition to write; empty while what it depends on is not known yet, and the
   *     present condition stays
   */
  Optional<ActiveCondition> condition(AdmissionCheckSpec check);
}
