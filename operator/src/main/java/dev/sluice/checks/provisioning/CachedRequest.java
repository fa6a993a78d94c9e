package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.core.model.MapCopies;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The cached part of a ProvisioningRequest. Its status comes from an autoscaler: whatever is
 * missing or of the wrong type counts as absent.
 *
 * @param controller the UID of the object that controls it; empty if none does
 * @param controllerName the name of that object
 * @param managed whether it has the label of what the operator makes
 * @param deleting whether it has a deletion timestamp
 * @param reservation the reservation that it was made for; empty if it doesn't say
 * @param digest of what was requested; empty if it doesn't say
 * @param className the class in its spec
 * @param pods how many pods of each PodTemplate its spec asks for, by the PodTemplate's name
 * @param conditions the conditions by type
 * @param details the details that the class provided
 */
record CachedRequest(
    String namespace,
    String name,
    String uid,
    String controller,
    String controllerName,
    boolean managed,
    boolean deleting,
    String reservation,
    String digest,
    String className,
    Map<String, Long> pods,
    Map<String, RequestCondition> conditions,
    Map<String, String> details) {

  /** Annotation of a request: when the quota was reserved that it was made for. */
  static final String RESERVATION = "sluice.dev/quota-reserved-at";

  /** Annotation of a request: a digest of the class, the parameters and the pods requested. */
  static final String DIGEST = "sluice.dev/request-digest";

  /** The autoscaler has taken on the request. */
  static final String ACCEPTED = "Accepted";

  /** The nodes are there. */
  static final String PROVISIONED = "Provisioned";

  /** The nodes can't be provided. */
  static final String FAILED = "Failed";

  /** The nodes were there, and nobody used them in time. */
  static final String BOOKING_EXPIRED = "BookingExpired";

  /** The nodes were there, and were taken away. */
  static final String CAPACITY_REVOKED = "CapacityRevoked";

  /** A condition of a request. */
  record RequestCondition(boolean isTrue, String message) {}

  /** Reads a request from its JSON. */
  static CachedRequest of(JsonNode object) {
    JsonNode metadata = object.path("metadata");
    return new CachedRequest(
        text(metadata, "namespace"),
        text(metadata, "name"),
        text(metadata, "uid"),
        controllerOf(object, "uid"),
        controllerOf(object, "name"),
        isManaged(object),
        metadata.hasNonNull("deletionTimestamp"),
        text(metadata.path("annotations"), RESERVATION),
        text(metadata.path("annotations"), DIGEST),
        text(object.path("spec"), "provisioningClassName"),
        pods(object.path("spec").path("podSets")),
        conditions(object.path("status").path("conditions")),
        details(object.path("status").path("provisioningClassDetails")));
  }

  /** A field of the reference to the object that controls an object; empty if none does. */
  static String controllerOf(JsonNode object, String field) {
    for (JsonNode owner : object.path("metadata").path("ownerReferences")) {
      if (owner.path("controller").asBoolean()) {
        return text(owner, field);
      }
    }
    return "";
  }

  /** Whether an object has the label of what the operator makes. */
  static boolean isManaged(JsonNode object) {
    return text(object.path("metadata").path("labels"), KueueConstants.MANAGED).equals("true");
  }

  /** What the spec of a request asks for, as {@link #pods()}. */
  static Map<String, Long> pods(JsonNode podSets) {
    Map<String, Long> result = new HashMap<>();
    for (JsonNode podSet : podSets) {
      String name = text(podSet.path("podTemplateRef"), "name");
      if (!name.isEmpty()) {
        result.merge(name, podSet.path("count").asLong(), Long::sum);
      }
    }
    return MapCopies.of(result);
  }

  private static Map<String, RequestCondition> conditions(JsonNode list) {
    Map<String, RequestCondition> result = new HashMap<>();
    if (list.isArray()) {
      for (JsonNode condition : list) {
        String type = text(condition, "type");
        if (!type.isEmpty()) {
          result.put(
              type,
              new RequestCondition(
                  text(condition, "status").equals("True"), text(condition, "message")));
        }
      }
    }
    return MapCopies.of(result);
  }

  private static Map<String, String> details(JsonNode object) {
    Map<String, String> result = new HashMap<>();
    if (object.isObject()) {
      object
          .properties()
          .forEach(
              detail -> {
                if (detail.getValue().isValueNode() && !detail.getValue().isNull()) {
                  result.put(detail.getKey(), detail.getValue().asText());
                }
              });
    }
    return MapCopies.of(result);
  }

  private static String text(JsonNode holder, String field) {
    JsonNode value = holder.path(field);
    return value.isTextual() ? value.asText() : "";
  }

  /** Whether the condition of this type is True. */
  boolean has(String type) {
    return Optional.ofNullable(conditions.get(type)).filter(RequestCondition::isTrue).isPresent();
  }

  /** The message of the condition of this type; empty without one. */
  String message(String type) {
    return Optional.ofNullable(conditions.get(type)).map(RequestCondition::message).orElse("");
  }
}
