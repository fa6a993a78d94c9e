package dev.sluice.workload.record;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.workload.record.PodTemplate.Claim;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The devices that one pod requests, as quota counts them (docs/devices.md).
 *
 * @param amounts the counted amounts of claims, by the resource that quota counts the devices as
 * @param replaced requested resources that devices stand behind: the resource that each counts as
 * @param defects why the devices can't be counted until somebody changes the Workload or the
 *     configuration
 * @param unresolved why the devices can't be counted yet: an object is missing in the cluster
 */
public record DeviceCharge(
    SortedMap<String, Long> amounts,
    Map<String, String> replaced,
    List<String> defects,
    List<String> unresolved) {

  /** A pod without devices. */
  public static final DeviceCharge NONE =
      new DeviceCharge(Collections.emptySortedMap(), Map.of(), List.of(), List.of());

  /** The charge where quota counts no devices of resource claims: each claim is a defect. */
  public static DeviceCharge uncounted(PodTemplate template) {
    return template.resourceClaims().isEmpty()
        ? NONE
        : new DeviceCharge(
            Collections.emptySortedMap(),
            Map.of(),
            template.resourceClaims().stream()
                .map(Claim::name)
                .distinct()
                .map(
                    claim ->
                        "resource claim "
                            + claim
                            + ": quota does not count devices of resource claims")
                .toList(),
            List.of());
  }

  /**
   * The amounts of a pod with its devices.
   *
   * @param counted the amounts that quota counts otherwise
   * @param requested the amounts that the pod requests
   */
  public SortedMap<String, Long> addedTo(
      SortedMap<String, Long> counted, SortedMap<String, Long> requested) {
    if (replaced.isEmpty() && amounts.isEmpty()) {
      return counted;
    }
    SortedMap<String, Long> result = new TreeMap<>(counted);
    replaced.forEach(
        (resource, other) -> {
          long amount = requested.getOrDefault(resource, 0L);
          if (amount > 0) {
            result.remove(resource);
            result.merge(other, amount, ResourceAmounts::add);
          }
        });
    amounts.forEach((resource, amount) -> result.merge(resource, amount, ResourceAmounts::add));
    return result;
  }
}
