package dev.sluice.workload.devices;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/**
 * What is kept of a ResourceClaimTemplate of {@code resource.k8s.io/v1}.
 *
 * @param namespace its namespace
 * @param name its name
 * @param requests the requests of the claims that are made from it
 */
record ClaimTemplate(String namespace, String name, List<DeviceRequest> requests) {

  private static final String EXACT_COUNT = "ExactCount";

  /** Reads a ResourceClaimTemplate. Total: a request that can't be read has a problem. */
  static ClaimTemplate of(JsonNode object) {
    List<DeviceRequest> requests = new ArrayList<>();
    for (JsonNode request : object.path("spec").path("spec").path("devices").path("requests")) {
      requests.add(request(request));
    }
    return new ClaimTemplate(
        object.path("metadata").path("namespace").asText(""),
        object.path("metadata").path("name").asText(""),
        List.copyOf(requests));
  }

  private static DeviceRequest request(JsonNode request) {
    JsonNode exactly = request.path("exactly");
    JsonNode count = exactly.path("count");
    boolean admin = exactly.path("adminAccess").asBoolean(false);
    return new DeviceRequest(
        request.path("name").asText(""),
        exactly.path("deviceClassName").asText(""),
        count.isMissingNode() || count.isNull() ? 1 : Math.max(0, count.asLong(-1)),
        admin,
        selectors(exactly.path("selectors")),
        problem(request, exactly, admin));
  }

  private static String problem(JsonNode request, JsonNode exactly, boolean admin) {
    String mode = exactly.path("allocationMode").asText(EXACT_COUNT);
    JsonNode count = exactly.path("count");
    if (!request.path("firstAvailable").isEmpty()) {
      return "firstAvailable can't be counted, because it is not known which alternative is used";
    }
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

  /** The expressions of a list of selectors. */
  static List<String> selectors(JsonNode selectors) {
    List<String> result = new ArrayList<>(0);
    for (JsonNode selector : selectors) {
      result.add(selector.path("cel").path("expression").asText(""));
    }
    return List.copyOf(result);
  }
}
