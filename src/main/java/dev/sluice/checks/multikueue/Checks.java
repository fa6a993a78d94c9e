package dev.sluice.checks.multikueue;

import dev.sluice.api.Keys;
import dev.sluice.api.v1beta2.AdmissionCheck;

/** Tells the AdmissionChecks of this room from those of others. */
final class Checks {

  private Checks() {}

  /** Whether the check is answered here. */
  static boolean concerns(AdmissionCheck check) {
    return check.getSpec() != null && Keys.MULTIKUEUE.equals(check.getSpec().controllerName());
  }
}
