package dev.sluice.checks.multikueue;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.queues.mapping.CheckControllerDescription;
import dev.sluice.queues.mapping.CheckControllerDescription.Combinations;
import dev.sluice.queues.mapping.InactiveReasonText;
import java.util.Map;
import java.util.Optional;

/** The AdmissionChecks of the MultiKueue controller. */
public final class MultiKueueChecks {

  /**
   * A queue has at most one MultiKueue check, for all flavors; nodes are not provisioned here for
   * Workloads that run elsewhere.
   */
  public static final CheckControllerDescription DESCRIPTION =
      new CheckControllerDescription(
          KueueConstants.MULTIKUEUE,
          true,
          new Combinations(
              Optional.of(InactiveReasonText.MULTIPLE_MULTI_KUEUE),
              Optional.of(InactiveReasonText.MULTI_KUEUE_PER_FLAVOR),
              Map.of(
                  KueueConstants.PROVISIONING_REQUEST,
                  InactiveReasonText.MULTI_KUEUE_WITH_PROVISIONING)));

  private MultiKueueChecks() {}

  /** Whether the MultiKueue controller handles this check. */
  static boolean concerns(AdmissionCheck check) {
    return DESCRIPTION.isOf(check);
  }
}
