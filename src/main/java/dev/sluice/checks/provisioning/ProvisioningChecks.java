package dev.sluice.checks.provisioning;

import dev.sluice.api.KueueConstants;
import dev.sluice.queues.mapping.CheckControllerDescription;

/** The AdmissionChecks of the controller of ProvisioningRequests. */
public final class ProvisioningChecks {

  /** Any number of such checks may be in one queue, for all flavors or for some. */
  public static final CheckControllerDescription DESCRIPTION =
      CheckControllerDescription.local(KueueConstants.PROVISIONING_REQUEST);

  private ProvisioningChecks() {}
}
