package dev.sluice.queues.capacity;

import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.DynamicQuotaOrchestratorStatus;
import dev.sluice.kube.controller.LeaderAwareReconciler;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.queues.StatusWriter;
import dev.sluice.queues.capacity.OrchestrationPlan.Findings;
import dev.sluice.queues.capacity.OrchestrationPlan.Note;
import dev.sluice.queues.status.Conditions;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Writes what the plan says of a DynamicQuotaOrchestrator into its status. */
final class DynamicQuotaOrchestratorReconciler
    extends LeaderAwareReconciler<DynamicQuotaOrchestrator> {

  private final StatusWriter<DynamicQuotaOrchestratorStatus> statusWriter;
  private final Function<String, Optional<Findings>> findings;
  private final InstantSource clock;

  /**
   * Creates a reconciler.
   *
   * @param findings what the plan says of the orchestrator of a name; empty while there is no plan
   */
  DynamicQuotaOrchestratorReconciler(
      CapacityControllers.Dependencies dependencies,
      ReconcileTrigger<DynamicQuotaOrchestrator> reconcileTrigger,
      Function<String, Optional<Findings>> findings) {
    super(dependencies.leadership(), reconcileTrigger);
    this.statusWriter =
        new StatusWriter<>(
            dependencies.mapper(), dependencies.apiClient(), DynamicQuotaOrchestratorStatus.class);
    this.findings = findings;
    this.clock = dependencies.clock();
  }

  @Override
  protected Step reconcileObject(DynamicQuotaOrchestrator orchestrator) {
    return findings
        .apply(orchestrator.getMetadata().getName())
        .flatMap(
            ownFindings ->
                statusWriter.write(
                    orchestrator, status -> wanted(ownFindings, status, generation(orchestrator))))
        .map(outcome -> after(orchestrator, outcome))
        .orElseGet(Step.Done::new);
  }

  private DynamicQuotaOrchestratorStatus wanted(
      Findings ownFindings, @Nullable DynamicQuotaOrchestratorStatus status, long generation) {
    Instant now = clock.instant();
    List<Condition> conditions =
        Conditions.with(
            status == null ? List.of() : status.conditions(),
            condition(
                DynamicQuotaOrchestrator.COMPUTED, ownFindings.computedNote(), generation, now));
    List<Condition> before = conditions;
    conditions =
        ownFindings
            .distributed()
            .map(
                note ->
                    Conditions.with(
                        before,
                        condition(DynamicQuotaOrchestrator.DISTRIBUTED, note, generation, now)))
            .orElseGet(
                () ->
                    before.stream()
                        .filter(it -> !DynamicQuotaOrchestrator.DISTRIBUTED.equals(it.getType()))
                        .toList());
    return new DynamicQuotaOrchestratorStatus(
        conditions,
        ownFindings.keepsCapacity() && status != null
            ? status.effectiveCapacity()
            : ownFindings.capacity());
  }

  private static Condition condition(String type, Note note, long generation, Instant now) {
    return Conditions.of(type, note.status(), note.reason(), note.message(), generation, now);
  }

  @Override
  protected void forget(DynamicQuotaOrchestrator orchestrator) {
    statusWriter.forget(orchestrator);
  }
}
