package dev.sluice.workload.record;

import java.util.Map;

/** The objects of a cluster that influence the amounts of a Workload. Readable from any thread. */
public interface ResourceContext {

  /** No limits and no overhead. */
  ResourceContext NONE =
      new ResourceContext() {
        @Override
        public NamespaceLimits rules(String namespace) {
          return NamespaceLimits.NONE;
        }

        @Override
        public Map<String, Long> overhead(String runtimeClass) {
          return Map.of();
        }
      };

  /** The limits of a namespace; {@link NamespaceLimits#NONE} without LimitRanges. */
  NamespaceLimits rules(String namespace);

  /**
   * The overhead that a RuntimeClass adds to each pod, in amounts; empty when the class is unknown
   * or has no overhead.
   */
  Map<String, Long> overhead(String runtimeClass);

  /**
   * What quota counts of the devices of one pod of this template. Where devices are not counted,
   * each claim is a defect.
   */
  default DeviceCharge devices(String namespace, PodTemplate template) {
    return DeviceCharge.uncounted(template);
  }

  /** Whether pods of this template may count otherwise when devices do. */
  default boolean mayUseDevices(PodTemplate template) {
    return !template.resourceClaims().isEmpty();
  }

  /** Listener for changes, called from any thread. */
  interface Listener {

    /** Called when the limits of this namespace changed. */
    default void rulesChanged(String namespace) {}

    /** Called when the overhead of this RuntimeClass changed. */
    default void overheadChanged(String runtimeClass) {}

    /**
     * Called when devices may count otherwise.
     *
     * @param namespace of the Workloads that are concerned; empty: all namespaces
     */
    default void devicesChanged(String namespace) {}
  }
}
