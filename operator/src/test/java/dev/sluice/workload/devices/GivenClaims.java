package dev.sluice.workload.devices;

import dev.sluice.workload.record.DeviceCharge;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Claims of so many devices each, as a test has them.
 *
 * @param resource the resource that the devices count as
 * @param count the number of devices of each claim
 * @param extendedResource the resource that pods may request instead
 */
public record GivenClaims(String resource, long count, String extendedResource)
    implements ClaimedDevices {

  @Override
  public SortedMap<String, Long> of(String namespace, String claim) {
    return new TreeMap<>(Map.of(resource, count));
  }

  @Override
  public Set<String> resources() {
    return Set.of(resource);
  }

  @Override
  public DeviceCharge extended() {
    return new DeviceCharge(
        Collections.emptySortedMap(), Map.of(extendedResource, resource), List.of(), List.of());
  }
}
