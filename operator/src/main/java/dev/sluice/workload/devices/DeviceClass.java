package dev.sluice.workload.devices;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Comparator;
import java.util.List;

/**
 * What is kept of a DeviceClass of {@code resource.k8s.io/v1}.
 *
 * @param name its name
 * @param createdAt its creation, as the API server writes it
 * @param extendedResource the resource that pods may request instead of claims; empty: none
 * @param selectors the expressions in CEL that each device of the class meets
 */
record DeviceClass(String name, String createdAt, String extendedResource, List<String> selectors) {

  /** Of several classes with one extended resource, the newest counts, then the first by name. */
  static final Comparator<DeviceClass> NEWEST_FIRST =
      Comparator.comparing(DeviceClass::createdAt).reversed().thenComparing(DeviceClass::name);

  /** Reads a DeviceClass. */
  static DeviceClass of(JsonNode object) {
    return new DeviceClass(
        object.path("metadata").path("name").asText(""),
        object.path("metadata").path("creationTimestamp").asText(""),
        object.path("spec").path("extendedResourceName").asText(""),
        ClaimSpec.selectors(object.path("spec").path("selectors")));
  }
}
