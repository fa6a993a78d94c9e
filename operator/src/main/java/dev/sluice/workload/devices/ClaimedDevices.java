package dev.sluice.workload.devices;

import dev.sluice.workload.record.DeviceCharge;
import java.util.Collections;
import java.util.Set;
import java.util.SortedMap;

/** The devices of claims that exist, as quota counts them. Readable from any thread. */
public interface ClaimedDevices {

  /** Counts no devices. */
  ClaimedDevices NONE =
      new ClaimedDevices() {
        @Override
        public SortedMap<String, Long> of(String namespace, String claim) {
          return Collections.emptySortedMap();
        }

        @Override
        public Set<String> resources() {
          return Set.of();
        }

        @Override
        public DeviceCharge extended() {
          return DeviceCharge.NONE;
        }
      };

  /**
   * What a ResourceClaim counts as, by the resource that quota counts its devices as; empty if the
   * claim isn't known.
   */
  SortedMap<String, Long> of(String namespace, String claim);

  /** The resources that devices are counted as. */
  Set<String> resources();

  /** The charge of a pod without claims: it tells the resources that devices stand behind. */
  DeviceCharge extended();
}
