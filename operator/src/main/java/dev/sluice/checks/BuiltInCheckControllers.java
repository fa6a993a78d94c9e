package dev.sluice.checks;

import dev.sluice.checks.multikueue.MultiKueueControllers.MultiKueueChecks;
import dev.sluice.checks.provisioning.ProvisioningControllers.ProvisioningChecks;
import dev.sluice.queues.mapping.CheckControllerDescription.CheckControllers;
import java.util.List;

/** All controllers of AdmissionChecks that this program has: one line per controller. */
public final class BuiltInCheckControllers {

  private BuiltInCheckControllers() {}

  /** Their descriptions. */
  public static CheckControllers all() {
    return new CheckControllers(
        List.of(
            MultiKueueChecks.DESCRIPTION,
            ProvisioningChecks.DESCRIPTION,
            ProvisioningChecks.NODE_CAPACITY));
  }
}
