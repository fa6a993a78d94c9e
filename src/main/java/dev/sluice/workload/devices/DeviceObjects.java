package dev.sluice.workload.devices;

import java.util.Optional;

/** The objects of a cluster that tell what claims are made of. Readable from any thread. */
interface DeviceObjects {

  /** The ResourceClaimTemplate of this name, if it exists. */
  Optional<ClaimTemplate> template(String namespace, String name);
}
