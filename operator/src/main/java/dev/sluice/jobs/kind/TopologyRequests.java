package dev.sluice.jobs.kind;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Booleans;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.TextLimits;
import dev.sluice.api.json.JsonMappers;
import java.util.Map;
import java.util.Optional;

/** What the annotations of a pod template ask of the topology, in the API's form. */
public final class TopologyRequests {

  private static final Map<String, String> FIELDS =
      Map.of(
          KueueConstants.PODSET_REQUIRED_TOPOLOGY, "required",
          KueueConstants.PODSET_PREFERRED_TOPOLOGY, "preferred",
          KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY, "podSetSliceRequiredTopology",
          KueueConstants.PODSET_GROUP_NAME, "podSetGroupName");

  private TopologyRequests() {}

  /**
   * The request of a template; empty when it asks for nothing.
   *
   * @param podIndexLabel the label by which pods of the kind tell their place; empty if none does
   */
  public static Optional<ObjectNode> of(JsonNode template, String podIndexLabel) {
    ObjectNode request = wishes(template);
    if (request.isEmpty()) {
      return Optional.empty();
    }
    if (!podIndexLabel.isEmpty()) {
      request.put("podIndexLabel", podIndexLabel);
    }
    return Optional.of(request);
  }

  /**
   * The request of a template of pods that all have an index, even if it asks for nothing: where a
   * topology is implied, pods are placed by their indexes, too.
   *
   * @param podIndexLabel the label by which pods tell their place
   */
  public static ObjectNode ranked(JsonNode template, String podIndexLabel) {
    return wishes(template).put("podIndexLabel", podIndexLabel);
  }

  /** What the annotations ask for, without labels of indexes. */
  private static ObjectNode wishes(JsonNode template) {
    JsonNode annotations = template.path("metadata").path("annotations");
    ObjectNode request = JsonNodeFactory.instance.objectNode();
    FIELDS.forEach(
        (key, field) -> {
          if (!annotations.path(key).asText().isEmpty()) {
            request.put(field, annotations.path(key).asText());
          }
        });
    if (Booleans.isTrue(annotations.path(KueueConstants.PODSET_UNCONSTRAINED_TOPOLOGY).asText())) {
      request.put("unconstrained", true);
    }
    int sliceSize = annotations.path(KueueConstants.PODSET_SLICE_SIZE).asInt();
    if (sliceSize > 0) {
      request.put("podSetSliceSize", sliceSize);
    }
    JsonNode layers =
        layers(
            annotations.path(KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY_CONSTRAINTS).asText());
    if (layers.isArray() && !layers.isEmpty()) {
      request.set("podsetSliceRequiredTopologyConstraints", layers);
    }
    return request;
  }

  private static JsonNode layers(String text) {
    try {
      return text.isEmpty() || !TextLimits.fits(text)
          ? JsonMappers.JSON.missingNode()
          : JsonMappers.JSON.readTree(text);
    } catch (JsonProcessingException refusedByTheWebhook) {
      return JsonMappers.JSON.missingNode();
    }
  }
}
