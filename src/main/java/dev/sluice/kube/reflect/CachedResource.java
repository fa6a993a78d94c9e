package dev.sluice.kube.reflect;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;

/**
 * An object in an informer of which only a part is kept, and its identity and version. It is
 * read-only and must never be written back. Each subclass names its group, version and kind and its
 * deserializer.
 */
public abstract class CachedResource implements HasMetadata {

  private static final long serialVersionUID = 1L;

  private ObjectMeta metadata;

  /** Holds this metadata. */
  protected CachedResource(ObjectMeta metadata) {
    this.metadata = metadata;
  }

  /** The identity and version of an object, and nothing else of its metadata. */
  public static ObjectMeta identity(JsonNode object) {
    return identify(new ObjectMeta(), object);
  }

  /** Gives metadata the identity and version of an object; what can't be read is empty. */
  static <M extends ObjectMeta> M identify(M metadata, JsonNode object) {
    JsonNode from = object.path("metadata");
    metadata.setName(from.path("name").asText());
    if (from.path("namespace").isTextual()) {
      metadata.setNamespace(from.path("namespace").asText());
    }
    metadata.setUid(from.path("uid").asText());
    metadata.setResourceVersion(from.path("resourceVersion").asText());
    return metadata;
  }

  @Override
  public ObjectMeta getMetadata() {
    return metadata;
  }

  @Override
  public void setMetadata(ObjectMeta metadata) {
    this.metadata = metadata;
  }

  @Override
  public void setApiVersion(String version) {
    if (!version.equals(getApiVersion())) {
      throw new IllegalArgumentException("version is " + getApiVersion() + ", not " + version);
    }
  }
}
