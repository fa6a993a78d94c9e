package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.node.MissingNode;
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
 * A ProvisioningRequest in an informer: holds what is cached of it. It is read-only and must never
 * be written back.
 */
@Group(ProvisioningRequestResource.GROUP)
@Version(ProvisioningRequestResource.VERSION)
@Kind(ProvisioningRequestResource.KIND)
@Plural(ProvisioningRequestResource.PLURAL)
@JsonDeserialize(using = ProvisioningRequestResource.Reader.class)
public final class ProvisioningRequestResource implements HasMetadata, Namespaced {

  /** The group of the API. */
  static final String GROUP = "autoscaling.x-k8s.io";

  /** The version of the API. */
  static final String VERSION = "v1";

  /** The kind. */
  static final String KIND = "ProvisioningRequest";

  /** The resource. */
  static final String PLURAL = "provisioningrequests";

  private static final long serialVersionUID = 1L;

  private final transient CachedRequest request;
  private ObjectMeta metadata;

  private ProvisioningRequestResource(CachedRequest request, ObjectMeta metadata) {
    this.request = request;
    this.metadata = metadata;
  }

  private static ProvisioningRequestResource of(JsonNode object) {
    CachedRequest request = CachedRequest.of(object);
    ObjectMeta metadata = new ObjectMeta();
    metadata.setNamespace(request.namespace());
    metadata.setName(request.name());
    metadata.setUid(request.uid());
    metadata.setResourceVersion(object.path("metadata").path("resourceVersion").asText());
    return new ProvisioningRequestResource(request, metadata);
  }

  /** What is known of the request. */
  CachedRequest request() {
    return request;
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

  /** Reads a request, and keeps what is needed of it. */
  static final class Reader extends JsonDeserializer<ProvisioningRequestResource> {

    @Override
    public ProvisioningRequestResource deserialize(
        JsonParser parser, DeserializationContext context) throws IOException {
      return TolerantDeserializers.read(
          parser,
          context,
          ProvisioningRequestResource::of,
          (JsonNode object, UnreadableMetadata metadata) ->
              new ProvisioningRequestResource(
                  CachedRequest.of(MissingNode.getInstance()), metadata));
    }
  }
}
