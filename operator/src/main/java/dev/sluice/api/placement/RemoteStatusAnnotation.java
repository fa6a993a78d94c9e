package dev.sluice.api.placement;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import java.util.Optional;

/**
 * What a job tells of its status in another cluster, where a controller of this one owns its status
 * here. While it tells anything, pods of it may run there.
 */
public final class RemoteStatusAnnotation {

  private RemoteStatusAnnotation() {}

  /** The status there; empty when it tells of none. What can't be read tells nothing of pods. */
  public static Optional<ObjectNode> of(JsonNode job) {
    JsonNode text =
        job.path("metadata").path("annotations").path(LocalClusterAnnotations.REMOTE_STATUS);
    if (text.isMissingNode()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          JsonMappers.JSON.readTree(text.asText()) instanceof ObjectNode status
              ? status
              : JsonNodeFactory.instance.objectNode());
    } catch (JsonProcessingException e) {
      return Optional.of(JsonNodeFactory.instance.objectNode());
    }
  }
}
