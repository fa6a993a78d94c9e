package dev.sluice.workload.devices;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/**
 * What is kept of a ResourceSlice of {@code resource.k8s.io/v1}: some devices of a pool.
 *
 * @param driver the driver of the pool
 * @param pool the name of the pool
 * @param generation the generation of the pool that the slice belongs to
 * @param slices how many slices the pool has in this generation
 * @param devices the devices
 */
record DeviceSlice(String driver, String pool, long generation, long slices, List<Device> devices) {

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
