package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.sluice.kube.reflect.CachedResource;
import dev.sluice.kube.reflect.TolerantDeserializers;
import dev.sluice.kube.reflect.UnreadableMetadata;
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
public final class RequestTemplateResource extends CachedResource implements Namespaced {

  private static final long serialVersionUID = 1L;

  private final transient String controller;
  private final transient String request;

  private RequestTemplateResource(String controller, String request, ObjectMeta metadata) {
    super(metadata);
    this.controller = controller;
    this.request = request;
  }

  private static RequestTemplateResource of(JsonNode object) {
    return new RequestTemplateResource(
        CachedRequest.controllerOf(object, "uid"),
        CachedRequest.controllerOf(object, "name"),
        identity(object));
  }

  /** The name of the object that controls it; empty if none does. */
  String request() {
    return request;
  }

  /** The UID of the object that controls it; empty if none does. */
  String controller() {
    return controller;
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
