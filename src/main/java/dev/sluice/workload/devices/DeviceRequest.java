package dev.sluice.workload.devices;

import dev.sluice.core.model.Toleration;
import java.util.List;

/**
 * A request of a resource claim.
 *
 * @param name the name within the claim
 * @param deviceClass the name of the DeviceClass; empty when the request names none
 * @param count the number of devices, at least 0
 * @param adminAccess whether it only watches devices that others use
 * @param selectors the expressions in CEL that each device must meet; a selector of another kind is
 *     an empty text, which no device meets
 * @param tolerations the taints that the devices may have
 * @param problem why the number of devices can't be told; empty if it is {@code count}
 * @param alternatives of which it gets the devices of one, in the order of preference; then it says
 *     nothing else itself. Empty without
 */
record DeviceRequest(
    String name,
    String deviceClass,
    long count,
    boolean adminAccess,
    List<String> selectors,
    List<Toleration> tolerations,
    String problem,
    List<DeviceRequest> alternatives) {}
