package dev.sluice.kube.definitions;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.sluice.kube.reflect.CachedResource;
import dev.sluice.kube.reflect.TolerantDeserializers;
import dev.sluice.kube.reflect.UnreadableMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;

/**
 * A CustomResourceDefinition in the cache: its name and the versions that the API server serves.
 * Its schemas are dropped. It is read-only and must never be written back.
 */
@Group("apiextensions.k8s.io")
@Version("v1")
@Kind("CustomResourceDefinition")
@Plural("customresourcedefinitions")
@JsonDeserialize(using = DefinitionResource.Reader.class)
public final class DefinitionResource extends CachedResource {

  private static final long serialVersionUID = 1L;

  private final transient Set<String> served;

  private DefinitionResource(Set<String> served, ObjectMeta metadata) {
    super(metadata);
    this.served = served;
  }

  /** Reads a definition from its JSON. */
  static DefinitionResource of(JsonNode object) {
    return new DefinitionResource(
        isEstablished(object) ? servedVersions(object) : Set.of(), identity(object));
  }

  /** The versions that the API server serves; none before the definition is established. */
  Set<String> served() {
    return served;
  }

  private static boolean isEstablished(JsonNode object) {
    for (JsonNode condition : object.path("status").path("conditions")) {
      if (condition.path("type").asText().equals("Established")) {
        return condition.path("status").asText().equals("True");
      }
    }
    return false;
  }

  private static Set<String> servedVersions(JsonNode object) {
    Set<String> names = new HashSet<>();
    for (JsonNode version : object.path("spec").path("versions")) {
      if (version.path("served").asBoolean()) {
        names.add(version.path("name").asText());
      }
    }
    return Set.copyOf(names);
  }

  /** Reads a definition, and keeps what is needed of it. */
  static final class Reader extends JsonDeserializer<DefinitionResource> {

    @Override
    public DefinitionResource deserialize(JsonParser parser, DeserializationContext context)
        throws IOException {
      return TolerantDeserializers.read(
          parser,
          context,
          DefinitionResource::of,
          (JsonNode object, UnreadableMetadata metadata) ->
              new DefinitionResource(Set.of(), metadata));
    }
  }
}
