package dev.sluice.api.config;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/**
 * What of a pod's requests counts.
 *
 * @param blockUndeclared whether a request for a resource that the queue doesn't declare keeps the
 *     workload out; else such a request is ignored
 * @param excludeResourcePrefixes resources whose names begin so are ignored
 * @param transformations resources that count as others
 * @param deviceClassMappings device classes that count as resources
 */
public record Resources(
    boolean blockUndeclared,
    List<String> excludeResourcePrefixes,
    List<Transformation> transformations,
    List<DeviceClassMapping> deviceClassMappings) {

  /**
   * A resource that counts as others.
   *
   * @param input the resource that pods request
   * @param replace whether the input itself no longer counts
   * @param multiplyBy a resource whose amount multiplies the outputs; empty: none
   * @param outputs what one unit of the input counts as
   */
  public record Transformation(
      String input, boolean replace, String multiplyBy, Map<String, BigDecimal> outputs) {

    /** Keeps a copy of the outputs. */
    public Transformation {
      outputs = Map.copyOf(outputs);
    }
  }

  /**
   * Device classes that count as one resource.
   *
   * @param name the resource
   * @param deviceClassNames the device classes
   * @param sources what of the devices is counted; empty: the devices
   */
  public record DeviceClassMapping(
      String name, List<String> deviceClassNames, List<DeviceSource> sources) {}

  /**
   * What of a device is counted.
   *
   * @param counter whether a counter is meant, else a capacity
   * @param name the counter's or capacity's name
   * @param driver the driver of the devices
   * @param expression the CEL expression that selects devices; empty: all of the driver
   */
  public record DeviceSource(boolean counter, String name, String driver, String expression) {}
}
