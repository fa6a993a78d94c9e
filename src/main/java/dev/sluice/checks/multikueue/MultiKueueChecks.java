package dev.sluice.checks.multikueue;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.v1beta2.AdmissionCheck;

/** Tells the AdmissionChecks of this room from those of others. */
final class MultiKueueChecks {

  private MultiKueueChecks() {}

  /** Whether the check is answered here. */
  static boolean concerns(AdmissionCheck check) {
    return check.getSpec() != null
        && KueueConstants.MULTIKUEUE.equals(check.getSpec().controllerName());
  }
}
