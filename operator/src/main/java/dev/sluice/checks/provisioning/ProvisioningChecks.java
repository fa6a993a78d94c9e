package dev.sluice.checks.provisioning;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.queueing.NodeCapacityAnnotations;
import dev.sluice.queues.mapping.CheckControllerDescription;

/** The AdmissionChecks that ask an autoscaler for nodes. */
public final class ProvisioningChecks {

  /** Any number of such checks may be in one queue, for all flavors or for some. */
  public static final CheckControllerDescription DESCRIPTION =
      CheckControllerDescription.local(KueueConstants.PROVISIONING_REQUEST);

  /** Checks that ask for nodes by CapacityBuffers or placeholder pods. */
  public static final CheckControllerDescription NODE_CAPACITY =
      CheckControllerDescription.local(NodeCapacityAnnotations.CONTROLLER);

  private ProvisioningChecks() {}
}
