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
 * @param injectedContainers containers that webhooks of the cluster add to pods, by name: what each
 *     may request, by resource in thousandths for cpu and in whole units otherwise, beside what its
 *     Workload was admitted with
 * @param deviceClasses what the devices of device classes count as
 */
public record Resources(
    boolean blockUndeclared,
    List<String> excludeResourcePrefixes,
    List<Transformation> transformations,
    Map<String, Map<String, Long>> injectedContainers,
    List<DeviceClassMapping> deviceClasses) {

  /** Every request counts as it is, and none is known to be added. */
  public static final Resources PLAIN =
      new Resources(true, List.of(), List.of(), Map.of(), List.of());

  /** Keeps a copy of what containers may request. */
  public Resources {
    injectedContainers = Map.copyOf(injectedContainers);
    deviceClasses = List.copyOf(deviceClasses);
  }

  /**
   * A resource that devices count as.
   *
   * @param resource the resource, as ClusterQueues name it
   * @param deviceClasses the names of the device classes whose devices count as it
   * @param sources what of a device counts; empty: the device itself
   */
  public record DeviceClassMapping(
      String resource, List<String> deviceClasses, List<DeviceSource> sources) {

    /** Keeps copies of the lists. */
    public DeviceClassMapping {
      deviceClasses = List.copyOf(deviceClasses);
      sources = List.copyOf(sources);
    }
  }

  /**
   * A counter that devices of a driver consume, or a capacity of theirs that several pods share.
   *
   * @param kind whether it is a counter or a capacity
   * @param name its name, as the driver's ResourceSlices give it
   * @param driver the driver
   * @param selector an expression in CEL that tells for which devices it counts
   */
  public record DeviceSource(Kind kind, String name, String driver, String selector) {

    /** What a device counts by. */
    public enum Kind {
      /** What it consumes of the counters of its pool. */
      COUNTER,
      /** What a request consumes of the device. */
      CAPACITY
    }
  }

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
}
