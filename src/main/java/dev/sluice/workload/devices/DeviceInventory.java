package dev.sluice.workload.devices;

import dev.sluice.core.model.Taint;
import dev.sluice.core.model.Toleration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * The devices of a cluster at one moment: those of pools of which every slice of the newest
 * generation is known. Which devices meet a request is worked out once. Usable from any thread.
 */
final class DeviceInventory {

  private static final int REMEMBERED = 1000;

  private final List<Device> devices;
  private final DeviceSelectors selectors;
  private final boolean taints;
  private final Map<Wanted, List<Device>> found = new ConcurrentHashMap<>();

  /**
   * What devices have to be.
   *
   * @param driver their driver; empty: any
   * @param selectors the expressions that they meet
   * @param tolerations the taints that they may have
   */
  record Wanted(String driver, List<String> selectors, List<Toleration> tolerations) {}

  private record Pool(String driver, String name) {}

  /**
   * The devices of these slices.
   *
   * @param taints whether devices with taints that a request doesn't tolerate are left out
   */
  DeviceInventory(Collection<DeviceSlice> slices, DeviceSelectors selectors, boolean taints) {
    this.selectors = selectors;
    this.taints = taints;
    devices = new ArrayList<>();
    slices.stream()
        .collect(Collectors.groupingBy(slice -> new Pool(slice.driver(), slice.pool())))
        .values()
        .forEach(this::addPool);
  }

  private void addPool(List<DeviceSlice> slices) {
    long newest = slices.stream().mapToLong(DeviceSlice::generation).max().orElse(0);
    List<DeviceSlice> current =
        slices.stream().filter(slice -> slice.generation() == newest).toList();
    if (current.stream().allMatch(slice -> slice.slices() == current.size())) {
      current.forEach(slice -> devices.addAll(slice.devices()));
    }
  }

  /** The devices that a request may get. */
  List<Device> matching(Wanted wanted) {
    List<Device> known = found.get(wanted);
    if (known == null) {
      known = devices.stream().filter(device -> isWanted(wanted, device)).toList();
      if (found.size() < REMEMBERED) {
        found.put(wanted, known);
      }
    }
    return known;
  }

  private boolean isWanted(Wanted wanted, Device device) {
    return (wanted.driver().isEmpty() || wanted.driver().equals(device.driver()))
        && (!taints || isTolerated(wanted, device))
        && wanted.selectors().stream()
            .allMatch(expression -> selectors.matches(expression, device));
  }

  private static boolean isTolerated(Wanted wanted, Device device) {
    return device.taints().stream()
        .filter(Taint::keepsPodsOff)
        .allMatch(
            taint ->
                wanted.tolerations().stream().anyMatch(toleration -> toleration.tolerates(taint)));
  }
}
