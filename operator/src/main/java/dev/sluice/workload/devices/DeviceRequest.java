package dev.sluice.workload.devices;

import dev.sluice.core.model.Toleration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A request of a resource claim.
 *
 * @param name the name within the claim
 * @param criteria which devices it may get
 * @param count the number of devices, at least 0
 * @param adminAccess whether it only watches devices that others use
 * @param problem why the number of devices can't be told; empty if it is {@code count}
 * @param alternatives of which it gets the devices of one, in the order of preference; then it says
 *     nothing else itself. Empty without
 */
record DeviceRequest(
    String name,
    Criteria criteria,
    long count,
    boolean adminAccess,
    String problem,
    List<DeviceRequest> alternatives) {

  /**
   * Which devices a request may get.
   *
   * @param deviceClass the name of the DeviceClass; empty when the request names none
   * @param selectors the expressions in CEL that each device must meet; a selector of another kind
   *     is an empty text, which no device meets
   * @param tolerations the taints that the devices may have
   * @param capacities what the request consumes of each device, by the capacity's name as written
   */
  record Criteria(
      String deviceClass,
      List<String> selectors,
      List<Toleration> tolerations,
      Map<String, DeviceAmount> capacities) {

    /**
     * What the request consumes of each device of a driver, by the capacity's name with its domain.
     * Of two names of one capacity the larger amount counts.
     */
    Map<String, DeviceAmount> capacities(String driver) {
      if (capacities.isEmpty()) {
        return Map.of();
      }
      Map<String, DeviceAmount> result = new HashMap<>();
      capacities.forEach(
          (name, amount) ->
              result.merge(
                  DeviceCapacity.qualified(driver, name),
                  amount,
                  (one, other) -> one.compareTo(other) < 0 ? other : one));
      return result;
    }
  }

  /** The name of the DeviceClass; empty when the request names none. */
  String deviceClass() {
    return criteria.deviceClass();
  }
}
