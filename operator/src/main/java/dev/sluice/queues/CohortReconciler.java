package dev.sluice.queues;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.QuotaReference;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.Cohort.CohortStatus;
import dev.sluice.core.engine.CohortView;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.LeaderAwareReconciler;
import dev.sluice.kube.controller.PerGenerationEvents;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.kube.events.EventNotifier;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.queues.mapping.CohortMapper;
import dev.sluice.queues.mapping.EffectiveQuotasPlan;
import dev.sluice.queues.status.QueueStatuses;
import org.jspecify.annotations.Nullable;

/**
 * Reconciles a Cohort: reports faults as events, because a Cohort has no condition and no
 * finalizer, and writes its fair share from the scheduler's view into the status.
 */
final class CohortReconciler extends LeaderAwareReconciler<Cohort> {

  private static final String MISCONFIGURED = "Misconfigured";

  private final SchedulerViews schedulerViews;
  private final StatusWriter<CohortStatus> statuses;
  private final PerGenerationEvents events;
  private final EffectiveQuotasPlan effectiveQuotas;

  CohortReconciler(
      Leadership leadership,
      ReconcileTrigger<Cohort> reconcileTrigger,
      SchedulerViews schedulerViews,
      ApiClient writer,
      ObjectMapper mapper,
      EventNotifier eventNotifier,
      EffectiveQuotasPlan effectiveQuotas) {
    super(leadership, reconcileTrigger);
    this.schedulerViews = schedulerViews;
    this.effectiveQuotas = effectiveQuotas;
    this.statuses = new StatusWriter<>(mapper, writer, CohortStatus.class);
    this.events = new PerGenerationEvents(eventNotifier);
  }

  @Override
  protected Step reconcileObject(Cohort cohort) {
    events.emit(cohort, MISCONFIGURED, CohortMapper.translate(cohort).faults());
    return schedulerViews
        .cohort(cohort.getMetadata().getName())
        .map(view -> writeStatus(cohort, view))
        .orElseGet(Step.Done::new);
  }

  private Step writeStatus(Cohort cohort, CohortView view) {
    return statuses
        .write(cohort, standing -> wanted(cohort, view, standing))
        .map(outcome -> after(cohort, outcome))
        .orElseGet(Step.Done::new);
  }

  private CohortStatus wanted(Cohort cohort, CohortView view, @Nullable CohortStatus status) {
    CohortStatus seen = QueueStatuses.cohort(view, status);
    return seen.with(
        effectiveQuotas.wanted(
            new QuotaReference("Cohort", cohort.getMetadata().getName()), seen.effectiveQuotas()));
  }

  @Override
  protected void forget(Cohort cohort) {
    statuses.forget(cohort);
    events.forget(cohort);
  }
}
