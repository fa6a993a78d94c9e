package dev.sluice.controllers.kinds;

import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.Notices;
import dev.sluice.controllers.translation.Cohorts;
import dev.sluice.controllers.translation.NotActedUpon;
import java.util.ArrayList;
import java.util.List;

/** A Cohort: it has no condition and no finalizer, so what is wrong with it is said in events. */
final class CohortReconciler extends LeaderReconciler<Cohort> {

  private static final String MISCONFIGURED = "Misconfigured";

  private final Remarks faults;
  private final Remarks remarks;

  CohortReconciler(Leadership leadership, Signals<Cohort> signals, Notices notices) {
    super(leadership, signals);
    this.faults = new Remarks(notices);
    this.remarks = new Remarks(notices);
  }

  @Override
  protected Step step(Cohort cohort) {
    List<String> wrong = new ArrayList<>(Cohorts.translate(cohort).faults());
    faults.say(cohort, MISCONFIGURED, wrong);
    remarks.say(cohort, NotActedUpon.REASON, NotActedUpon.in(cohort));
    return new Step.Done();
  }

  @Override
  protected void forget(Cohort cohort) {
    faults.forget(cohort);
    remarks.forget(cohort);
  }
}
