package dev.sluice.workload.devices;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.core.model.Toleration;
import dev.sluice.workload.devices.DeviceInventory.Place;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What is kept of a ResourceClaimTemplate, or of a ResourceClaim, of {@code resource.k8s.io/v1}.
 *
 * @param namespace its namespace
 * @param name its name
 * @param requests the requests of the claim, or of the claims that are made from the template
 * @param allocated the devices that the claim got, by the request's name; empty for templates, and
 *     for claims that got none yet
 */
record ClaimSpec(
    String namespace,
    String name,
    List<DeviceRequest> requests,
    Map<String, List<Allocated>> allocated) {

  /**
   * A device that a claim got.
   *
   * @param place where it is
   * @param consumed what the claim consumes of its capacities, by their names with domains
   */
  record Allocated(Place place, Map<String, DeviceAmount> consumed) {}

  private static final String EXACT_COUNT = "ExactCount";

  /** Reads a ResourceClaimTemplate. Total: a request that can't be read has a problem. */
  static ClaimSpec ofTemplate(JsonNode object) {
    return of(object, object.path("spec").path("spec"), Map.of());
  }

  /** Reads a ResourceClaim. Total: a request that can't be read has a problem. */
  static ClaimSpec ofClaim(JsonNode object) {
    return of(object, object.path("spec"), allocated(object));
  }

  private static Map<String, List<Allocated>> allocated(JsonNode claim) {
    Map<String, List<Allocated>> result = new HashMap<>();
    for (JsonNode device : claim.at("/status/allocation/devices/results")) {
      String driver = device.path("driver").asText("");
      Map<String, DeviceAmount> consumed = new HashMap<>();
      amounts(device.path("consumedCapacity"))
          .forEach((name, amount) -> consumed.put(DeviceCapacity.qualified(driver, name), amount));
      result
          .computeIfAbsent(device.path("request").asText(""), any -> new ArrayList<>(1))
          .add(
              new Allocated(
                  new Place(
                      driver, device.path("pool").asText(""), device.path("device").asText("")),
                  consumed));
    }
    return result;
  }

  /** The quantities of an object by name; what is none isn't there. */
  private static Map<String, DeviceAmount> amounts(JsonNode object) {
    Map<String, DeviceAmount> result = new HashMap<>();
    object
        .properties()
        .forEach(
            entry ->
                DeviceAmount.read(entry.getValue())
                    .ifPresent(amount -> result.put(entry.getKey(), amount)));
    return result;
  }

  private static ClaimSpec of(
      JsonNode object, JsonNode spec, Map<String, List<Allocated>> allocated) {
    List<DeviceRequest> requests = new ArrayList<>(1);
    for (JsonNode request : spec.path("devices").path("requests")) {
      requests.add(request(request));
    }
    return new ClaimSpec(
        object.path("metadata").path("namespace").asText(""),
        object.path("metadata").path("name").asText(""),
        List.copyOf(requests),
        allocated);
  }

  private static DeviceRequest request(JsonNode request) {
    JsonNode exactly = request.path("exactly");
    String name = request.path("name").asText("");
    List<DeviceRequest> alternatives = new ArrayList<>(0);
    for (JsonNode alternative : request.path("firstAvailable")) {
      alternatives.add(devices(alternative.path("name").asText(""), alternative, false, List.of()));
    }
    boolean admin = exactly.path("adminAccess").asBoolean(false);
    return devices(name, exactly, admin, List.copyOf(alternatives));
  }

  /**
   * A request for devices of one class.
   *
   * @param alternatives of the request; then {@code exactly} must be missing
   */
  private static DeviceRequest devices(
      String name, JsonNode exactly, boolean admin, List<DeviceRequest> alternatives) {
    JsonNode count = exactly.path("count");
    return new DeviceRequest(
        name,
        new DeviceRequest.Criteria(
            exactly.path("deviceClassName").asText(""),
            selectors(exactly.path("selectors")),
            tolerations(exactly.path("tolerations")),
            Map.copyOf(amounts(exactly.path("capacity").path("requests")))),
        count.isMissingNode() || count.isNull() ? 1 : Math.max(0, count.asLong(-1)),
        admin,
        alternatives.isEmpty() ? problem(exactly, admin) : contradiction(exactly),
        alternatives);
  }

  private static String contradiction(JsonNode exactly) {
    return exactly.isMissingNode() || exactly.isNull()
        ? ""
        : "it has both exactly and firstAvailable";
  }

  private static String problem(JsonNode exactly, boolean admin) {
    String mode = exactly.path("allocationMode").asText(EXACT_COUNT);
    JsonNode count = exactly.path("count");
    if (!exactly.isObject()) {
      return "it has no field exactly";
    }
    if (admin) {
      return "";
    }
    if (!mode.equals(EXACT_COUNT)) {
      return "allocationMode " + mode + " can't be counted; use " + EXACT_COUNT;
    }
    boolean whole = count.isIntegralNumber() && count.canConvertToLong() && count.asLong() > 0;
    return count.isMissingNode() || count.isNull() || whole
        ? ""
        : "count must be a whole number above 0";
  }

  private static List<Toleration> tolerations(JsonNode tolerations) {
    List<Toleration> result = new ArrayList<>(0);
    for (JsonNode toleration : tolerations) {
      result.add(
          new Toleration(
              toleration.path("key").asText(""),
              toleration.path("operator").asText(""),
              toleration.path("value").asText(""),
              toleration.path("effect").asText("")));
    }
    return List.copyOf(result);
  }

  /** The expressions of a list of selectors. */
  static List<String> selectors(JsonNode selectors) {
    List<String> result = new ArrayList<>(0);
    for (JsonNode selector : selectors) {
      result.add(selector.path("cel").path("expression").asText(""));
    }
    return List.copyOf(result);
  }

  /**
   * A request of a resource claim.
   *
   * @param name the name within the claim
   * @param criteria which devices it may get
   * @param count the number of devices, at least 0
   * @param adminAccess whether it only watches devices that others use
   * @param problem why the number of devices can't be told; empty if it is {@code count}
   * @param alternatives of which it gets the devices of one, in the order of preference; then it
   *     says nothing else itself. Empty without
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
     * @param selectors the expressions in CEL that each device must meet; a selector of another
     *     kind is an empty text, which no device meets
     * @param tolerations the taints that the devices may have
     * @param capacities what the request consumes of each device, by the capacity's name as written
     */
    record Criteria(
        String deviceClass,
        List<String> selectors,
        List<Toleration> tolerations,
        Map<String, DeviceAmount> capacities) {

      /**
       * What the request consumes of each device of a driver, by the capacity's name with its
       * domain. Of two names of one capacity the larger amount counts.
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
}
