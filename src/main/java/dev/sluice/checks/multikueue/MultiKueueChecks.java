package dev.sluice.checks.multikueue;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.v1beta2.AdmissionCheck;

/** Recognises the AdmissionChecks of the MultiKueue controller. */
final class MultiKueueChecks {

  private MultiKueueChecks() {}

  /** Whether the MultiKueue controller handles this check. */
  static boolean concerns(AdmissionCheck check) {
    return check.getSpec() != null
        && KueueConstants.MULTIKUEUE.equals(check.getSpec().controllerName());
  }
}
