package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.sluice.kube.reading.TolerantDeserializers;
import dev.sluice.kube.reading.UnreadableMetadata;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.io.IOException;

/**
 * A PodTemplate in an informer: holds which request controls it. It is read-only and must never be
 * written back.
 */
@Group("")
@Version("v1")
@Kind("PodTemplate")
@Plural("podtemplates")
@JsonDeserialize(using = RequestTemplateResource.Reader.class)
public final class RequestTemplateResource implements HasMetadata, Namespaced {

  private static final long serialVersionUID = 1L;

  private final transient String controller;
  private final transient String request;
  private ObjectMeta metadata;

  private RequestTemplateResource(String controller, String request, ObjectMeta metadata) {
    this.controller = controller;
    this.request = request;
    this.metadata = metadata;
  }

  private static RequestTemplateResource of(JsonNode object) {
    JsonNode from = object.path("metadata");
    ObjectMeta metadata = new ObjectMeta();
    metadata.setNamespace(from.path("namespace").asText());
    metadata.setName(from.path("name").asText());
    metadata.setUid(from.path("uid").asText());
    metadata.setResourceVersion(from.path("resourceVersion").asText());
    return new RequestTemplateResource(
        CachedRequest.controllerOf(object, "uid"),
        CachedRequest.controllerOf(object, "name"),
        metadata);
  }

  /** The name of the object that controls it; empty if none does. */
  String request() {
    return request;
  }

  /** The UID of the object that controls it; empty if none does. */
  String controller() {
    return controller;
  }

  @Override
  public ObjectMeta getMetadata() {
    return metadata;
  }

  @Override
  public void setMetadata(ObjectMeta other) {
    this.metadata = other;
  }

  @Override
  public void setApiVersion(String version) {
    if (!version.equals(getApiVersion())) {
      throw new IllegalArgumentException("version is " + getApiVersion() + ", not " + version);
    }
  }

  /** Reads a template, and keeps what is needed of it. */
  static final class Reader extends JsonDeserializer<RequestTemplateResource> {

    @Override
    public RequestTemplateResource deserialize(JsonParser parser, DeserializationContext context)
        throws IOException {
      return TolerantDeserializers.read(
          parser,
          context,
          RequestTemplateResource::of,
          (JsonNode object, UnreadableMetadata metadata) ->
              new RequestTemplateResource("", "", metadata));
    }
  }
}
