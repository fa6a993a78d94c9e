package dev.sluice.checks;

import dev.sluice.api.v1beta2.AdmissionCheckSpec;
import dev.sluice.queues.mapping.CheckControllerDescription;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.CachedWorkload.CheckState;
import java.util.Optional;

/**
 * A controller of AdmissionChecks: says which checks can be used, and answers for Workloads. It
 * decides only; {@link CheckConditionReconciler} and {@link CheckStateWriter} write. Thread-safe.
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

  /**
   * The state that a check of this controller is to have in a Workload that holds quota. Called
   * when the Workload or the check changes, and after {@link #condition} does.
   *
   * @param state the present state, with the name of the check
   * @return empty if the present state stays, or if the controller writes the states itself,
   *     because they depend on more than the Workload
   */
  default Optional<Answer> answer(CachedWorkload workload, CheckState state) {
    return Optional.empty();
  }

  /**
   * The answer of a check for a Workload.
   *
   * @param state one of the states of {@link CheckState}
   * @param message why, for people
   */
  record Answer(String state, String message) {}
}
