package dev.sluice.workload.record;

import dev.sluice.api.Quantities;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.workload.record.PodTemplate.Claim;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

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

  /** Of so many claims a defect is told. */
  private static final int MOST_TOLD = 20;

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
                .limit(MOST_TOLD)
                .map(
                    claim ->
                        "resource claim "
                            + claim
                            + ": quota does not count devices of resource claims")
                .toList(),
            List.of());
  }

  /**
   * The amounts of a pod with its devices. What devices stand behind isn't counted otherwise, too.
   *
   * @param requested the amounts that the pod requests
   * @param otherwise what quota counts of requested amounts without devices
   */
  public SortedMap<String, Long> counted(
      SortedMap<String, Long> requested, UnaryOperator<SortedMap<String, Long>> otherwise) {
    if (replaced.isEmpty() && amounts.isEmpty()) {
      return otherwise.apply(requested);
    }
    SortedMap<String, Long> plain = new TreeMap<>(requested);
    plain.keySet().removeAll(replaced.keySet());
    SortedMap<String, Long> result = new TreeMap<>(otherwise.apply(plain));
    requested.forEach(
        (resource, amount) -> {
          String other = replaced.get(resource);
          if (other != null && amount > 0) {
            result.merge(other, Quantities.ofUnits(other, amount), ResourceAmounts::add);
          }
        });
    amounts.forEach((resource, amount) -> result.merge(resource, amount, ResourceAmounts::add));
    return result;
  }

  /** Amounts by the resources that they count as: those that devices stand behind are renamed. */
  public SortedMap<String, Long> renamed(SortedMap<String, Long> counted) {
    if (Collections.disjoint(counted.keySet(), replaced.keySet())) {
      return counted;
    }
    SortedMap<String, Long> result = new TreeMap<>();
    counted.forEach(
        (resource, amount) -> {
          String other = replaced.get(resource);
          result.merge(
              other == null ? resource : other,
              other == null ? amount : Quantities.ofUnits(other, amount),
              ResourceAmounts::add);
        });
    return result;
  }
}
