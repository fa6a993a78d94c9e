package dev.sluice.workload.devices;

import dev.sluice.workload.record.DeviceCharge;
import dev.sluice.workload.record.PodTemplate;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Resources that pods may request instead of claims, because DeviceClasses stand behind them.
 *
 * @param replaced the resources that count as others, by the name that pods request
 * @param refused the resources that can't be counted
 * @param charge the charge of a pod without claims that requests none of those refused
 */
record ExtendedResources(Map<String, String> replaced, Set<String> refused, DeviceCharge charge) {

  /** No such resources. */
  static final ExtendedResources NONE =
      new ExtendedResources(Map.of(), Set.of(), DeviceCharge.NONE);

  static ExtendedResources of(Map<String, String> replaced, Set<String> refused) {
    Map<String, String> names = Map.copyOf(replaced);
    return new ExtendedResources(
        names,
        Set.copyOf(refused),
        names.isEmpty()
            ? DeviceCharge.NONE
            : new DeviceCharge(Collections.emptySortedMap(), names, List.of(), List.of()));
  }

  /** The refused resources that a template requests, each once and sorted. */
  List<String> refusedBy(PodTemplate template) {
    return refused.isEmpty()
        ? List.of()
        : template.resources().filter(refused::contains).distinct().sorted().toList();
  }
}
