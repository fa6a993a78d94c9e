package dev.sluice.controllers.kinds;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.CohortStatus;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.MergePatches;
import dev.sluice.controllers.Notices;
import dev.sluice.controllers.status.QueueStatuses;
import dev.sluice.controllers.translation.Cohorts;
import dev.sluice.engine.CohortView;
import dev.sluice.engine.Views;

/**
 * A Cohort: it has no condition and no finalizer, so what is wrong with it is said in events. Its
 * status is its fair share, as the engine says.
 */
final class CohortReconciler extends LeaderReconciler<Cohort> {

  private static final String MISCONFIGURED = "Misconfigured";

  private final Views views;
  private final WrittenStatuses<CohortStatus> statuses;
  private final Remarks faults;

  CohortReconciler(
      Leadership leadership,
      Signals<Cohort> signals,
      Views views,
      MergePatches writer,
      ObjectMapper mapper,
      Notices notices) {
    super(leadership, signals);
    this.views = views;
    this.statuses = new WrittenStatuses<>(mapper, writer, CohortStatus.class);
    this.faults = new Remarks(notices);
  }

  @Override
  protected Step step(Cohort cohort) {
    faults.say(cohort, MISCONFIGURED, Cohorts.translate(cohort).faults());
    return views
        .cohort(cohort.getMetadata().getName())
        .map(view -> writeStatus(cohort, view))
        .orElseGet(Step.Done::new);
  }

  private Step writeStatus(Cohort cohort, CohortView view) {
    return statuses
        .write(cohort, standing -> QueueStatuses.cohort(view))
        .map(outcome -> after(cohort, outcome))
        .orElseGet(Step.Done::new);
  }

  @Override
  protected void forget(Cohort cohort) {
    statuses.forget(cohort);
    faults.forget(cohort);
  }
}
