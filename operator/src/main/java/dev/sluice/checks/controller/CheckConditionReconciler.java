package dev.sluice.checks.controller;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckSpec;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckStatus;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.LeaderAwareReconciler;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.queues.StatusWriter;
import dev.sluice.queues.mapping.CheckControllerDescription;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/**
 * Writes the condition {@code Active} of the AdmissionChecks of one controller. Checks of other
 * controllers are left alone.
 */
public final class CheckConditionReconciler extends LeaderAwareReconciler<AdmissionCheck> {

  private final AdmissionCheckController controller;
  private final StatusWriter<AdmissionCheckStatus> statuses;
  private final InstantSource clock;

  /**
   * A reconciler of the checks of this controller; {@code reconcileTrigger} asks for another run.
   */
  public CheckConditionReconciler(
      AdmissionCheckController controller,
      Leadership leadership,
      ReconcileTrigger<AdmissionCheck> reconcileTrigger,
      ApiClient patches,
      ObjectMapper mapper,
      InstantSource clock) {
    super(leadership, reconcileTrigger);
    this.controller = controller;
    this.statuses = new StatusWriter<>(mapper, patches, AdmissionCheckStatus.class);
    this.clock = clock;
  }

  @Override
  protected Step reconcileObject(AdmissionCheck check) {
    if (!controller.description().isOf(check)) {
      return new Step.Done();
    }
    Optional<ActiveCondition> condition = controller.condition(check.getSpec());
    return condition.isEmpty() ? new Step.Done() : write(check, condition.get());
  }

  private Step write(AdmissionCheck check, ActiveCondition condition) {
    return statuses
        .write(
            check,
            status -> {
              List<Condition> conditionsBefore = status == null ? List.of() : status.conditions();
              return new AdmissionCheckStatus(
                  condition.in(conditionsBefore, generation(check), clock.instant()));
            })
        .map(outcome -> after(check, outcome))
        .orElseGet(Step.Done::new);
  }

  @Override
  protected void forget(AdmissionCheck check) {
    statuses.forget(check);
  }

  /**
   * A controller of AdmissionChecks: says which checks can be used. It decides only; {@link
   * CheckConditionReconciler} writes. Thread-safe.
   */
  public interface AdmissionCheckController {

    /** What queues, jobs and webhooks have to know of the controller. */
    CheckControllerDescription description();

    /**
     * Whether a check of this controller can be used: whether its parameters are right, and all
     * that they name is there.
     *
     * @return the condition to write; empty while what it depends on is not known yet, and the
     *     present condition stays
     */
    Optional<ActiveCondition> condition(AdmissionCheckSpec check);
  }
}
