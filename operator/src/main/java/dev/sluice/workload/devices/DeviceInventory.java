package dev.sluice.workload.devices;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.Toleration;
import dev.sluice.workload.devices.DeviceSelectors.SelectorWork;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The devices of a cluster at one moment: those of pools of which every slice of the newest
 * generation is known. Which devices meet a request is worked out once. Usable from any thread.
 */
final class DeviceInventory {

  /** So many devices are kept in what was found, together. */
  private static final long REMEMBERED = 2_000_000;

  private static final int CHARACTERS_PER_DEVICE = 8;

  private final List<Device> devices;
  private final DeviceSelectors selectors;
  private final boolean taints;
  private final Map<Place, Device> places = new HashMap<>();
  private final Cache<Wanted, Found> found =
      CacheBuilder.newBuilder()
          .concurrencyLevel(1)
          .maximumWeight(REMEMBERED)
          .<Wanted, Found>weigher(
              (wanted, devicesFound) -> wanted.weight() + devicesFound.devices().size())
          .build();

  /**
   * What devices have to be.
   *
   * @param driver their driver; empty: any
   * @param selectors the expressions that they meet
   * @param tolerations the taints that they may have
   */
  record Wanted(String driver, List<String> selectors, List<Toleration> tolerations) {

    private int weight() {
      return 1 + selectors.stream().mapToInt(String::length).sum() / CHARACTERS_PER_DEVICE;
    }
  }

  /** Where a device is: names that are unique in a cluster. */
  record Place(String driver, String pool, String device) {}

  /**
   * What was found.
   *
   * @param devices the devices; none if that isn't complete
   * @param steps how many steps it took
   * @param complete whether the steps were enough
   */
  private record Found(List<Device> devices, long steps, boolean complete) {}

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
      for (DeviceSlice slice : current) {
        devices.addAll(slice.devices());
        slice
            .devices()
            .forEach(
                device ->
                    places.put(new Place(slice.driver(), slice.pool(), device.name()), device));
      }
    }
  }

  /**
   * The devices that a request may get; empty if it takes more steps than are left to find out.
   *
   * @param work takes the steps, even if they were taken before: so the result is the same again
   */
  Optional<List<Device>> matching(Wanted wanted, SelectorWork work) {
    Found known = found.getIfPresent(wanted);
    if (known == null || (!known.complete() && known.steps() < work.left())) {
      known = find(wanted, work.left());
      found.put(wanted, known);
    }
    work.spend(known.steps());
    return known.complete() && !work.isDone() ? Optional.of(known.devices()) : Optional.empty();
  }

  private Found find(Wanted wanted, long mostSteps) {
    SelectorWork own = new SelectorWork(mostSteps);
    List<Device> matching = new ArrayList<>();
    for (Device device : devices) {
      own.spend(1);
      if (isWanted(wanted, device, own)) {
        matching.add(device);
      }
      if (own.isDone()) {
        return new Found(List.of(), mostSteps, false);
      }
    }
    return new Found(List.copyOf(matching), mostSteps - own.left(), true);
  }

  /** The device at a place, if the cluster has it now. */
  Optional<Device> at(Place place) {
    return Optional.ofNullable(places.get(place));
  }

  private boolean isWanted(Wanted wanted, Device device, SelectorWork work) {
    return (wanted.driver().isEmpty() || wanted.driver().equals(device.driver()))
        && (!taints || isTolerated(wanted, device))
        && wanted.selectors().stream()
            .allMatch(expression -> selectors.matches(expression, device, work));
  }

  private static boolean isTolerated(Wanted wanted, Device device) {
    return device.taints().stream()
        .filter(Taint::keepsPodsOff)
        .allMatch(
            taint ->
                wanted.tolerations().stream().anyMatch(toleration -> toleration.tolerates(taint)));
  }

  /**
   * What is kept of a ResourceSlice of {@code resource.k8s.io/v1}: some devices of a pool.
   *
   * @param driver the driver of the pool
   * @param pool the name of the pool
   * @param generation the generation of the pool that the slice belongs to
   * @param slices how many slices the pool has in this generation
   * @param devices the devices
   */
  record DeviceSlice(
      String driver, String pool, long generation, long slices, List<Device> devices) {

    /** Reads a ResourceSlice. */
    static DeviceSlice of(JsonNode object) {
      JsonNode spec = object.path("spec");
      String driver = spec.path("driver").asText("");
      List<Device> devices = new ArrayList<>();
      for (JsonNode device : spec.path("devices")) {
        devices.add(Device.of(driver, spec.path("nodeName").asText(""), device));
      }
      JsonNode pool = spec.path("pool");
      return new DeviceSlice(
          driver,
          pool.path("name").asText(""),
          pool.path("generation").asLong(0),
          pool.path("resourceSliceCount").asLong(0),
          List.copyOf(devices));
    }
  }
}
