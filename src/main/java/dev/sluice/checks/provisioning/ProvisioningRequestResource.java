package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.node.MissingNode;
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
 * A ProvisioningRequest in an informer: holds what is cached of it. It is read-only and must never
 * be written back.
 */
@Group(ProvisioningRequestResource.GROUP)
@Version(ProvisioningRequestResource.VERSION)
@Kind(ProvisioningRequestResource.KIND)
@Plural(ProvisioningRequestResource.PLURAL)
@JsonDeserialize(using = ProvisioningRequestResource.Reader.class)
public final class ProvisioningRequestResource extends CachedResource implements Namespaced {

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

  private ProvisioningRequestResource(CachedRequest request, ObjectMeta metadata) {
    super(metadata);
    this.request = request;
  }

  private static ProvisioningRequestResource of(JsonNode object) {
    return new ProvisioningRequestResource(CachedRequest.of(object), identity(object));
  }

  /** What is known of the request. */
  CachedRequest request() {
    return request;
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
