package dev.sluice.workload.devices;

import java.util.Optional;

/** The objects of a cluster that tell what claims are made of. Readable from any thread. */
interface DeviceObjects {

  /** The ResourceClaimTemplate of this name, if it exists. */
  Optional<ClaimSpec> template(String namespace, String name);

  /** The DeviceClass of this name, if it exists. */
  Optional<DeviceClass> deviceClass(String name);

  /** The devices that the cluster has now. */
  DeviceInventory devices();
}
