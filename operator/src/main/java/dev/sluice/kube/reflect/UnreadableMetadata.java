package dev.sluice.kube.reflect;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;

/**
 * The metadata of an object that could not be read: its identity and version, and nothing else.
 * Such an object takes its place in watches and lists, and nobody acts on it.
 */
public final class UnreadableMetadata extends ObjectMeta {

  private static final long serialVersionUID = 1L;

  /** What can be read of the metadata of {@code object}; what can't is empty. */
  public static UnreadableMetadata of(JsonNode object) {
    JsonNode from = object.path("metadata");
    UnreadableMetadata metadata = new UnreadableMetadata();
    metadata.setName(from.path("name").asText());
    if (from.path("namespace").isTextual()) {
      metadata.setNamespace(from.path("namespace").asText());
    }
    metadata.setUid(from.path("uid").asText());
    metadata.setResourceVersion(from.path("resourceVersion").asText());
    return metadata;
  }

  /** Whether this object stands for one that could not be read. */
  public static boolean is(HasMetadata object) {
    return object.getMetadata() instanceof UnreadableMetadata;
  }
}
