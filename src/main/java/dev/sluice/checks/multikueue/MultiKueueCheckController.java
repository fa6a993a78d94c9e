package dev.sluice.checks.multikueue;

import dev.sluice.api.v1beta2.AdmissionCheckSpec;
import dev.sluice.checks.controller.ActiveCondition;
import dev.sluice.checks.controller.AdmissionCheckController;
import dev.sluice.queues.mapping.CheckControllerDescription;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The controller of MultiKueue checks. The states of its checks come from the placement of
 * Workloads, which writes them together with the cluster.
 */
final class MultiKueueCheckController implements AdmissionCheckController {

  private final MultiKueueCheckConditions conditions;
  private final BooleanSupplier listed;

  /**
   * A controller of checks.
   *
   * @param listed whether the objects that checks name are listed
   */
  MultiKueueCheckController(MultiKueueCheckConditions conditions, BooleanSupplier listed) {
    this.conditions = conditions;
    this.listed = listed;
  }

  @Override
  public CheckControllerDescription description() {
    return MultiKueueChecks.DESCRIPTION;
  }

  @Override
  public Optional<ActiveCondition> condition(AdmissionCheckSpec check) {
    return listed.getAsBoolean() ? Optional.of(conditions.of(check)) : Optional.empty();
  }
}
