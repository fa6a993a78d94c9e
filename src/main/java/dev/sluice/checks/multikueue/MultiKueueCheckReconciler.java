package dev.sluice.checks.multikueue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.AdmissionCheckStatus;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.reconcile.LeaderAwareReconciler;
import dev.sluice.kube.reconcile.ReconcileTrigger;
import dev.sluice.queues.StatusWriter;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.InstantSource;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Writes the condition of each MultiKueue AdmissionCheck: whether the check has usable clusters.
 */
final class MultiKueueCheckReconciler extends LeaderAwareReconciler<AdmissionCheck> {

  private final MultiKueueCheckConditions conditions;
  private final BooleanSupplier listed;
  private final StatusWriter<AdmissionCheckStatus> statuses;
  private final InstantSource clock;

  MultiKueueCheckReconciler(
      Leadership leadership,
      ReconcileTrigger<AdmissionCheck> reconcileTrigger,
      MultiKueueCheckConditions conditions,
      BooleanSupplier listed,
      ApiClient patches,
      ObjectMapper mapper,
      InstantSource clock) {
    super(leadership, reconcileTrigger);
    this.conditions = conditions;
    this.listed = listed;
    this.statuses = new StatusWriter<>(mapper, patches, AdmissionCheckStatus.class);
    this.clock = clock;
  }

  @Override
  protected Step reconcileObject(AdmissionCheck check) {
    if (!MultiKueueChecks.concerns(check) || !listed.getAsBoolean()) {
      return new Step.Done();
    }
    ActiveCondition condition = conditions.of(check.getSpec());
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
}
