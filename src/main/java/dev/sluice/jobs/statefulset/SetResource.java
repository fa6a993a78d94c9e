package dev.sluice.jobs.statefulset;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.sluice.jobs.JobResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.io.IOException;

/** A StatefulSet in the cache. */
@Group("apps")
@Version("v1")
@Kind("StatefulSet")
@Plural("statefulsets")
@JsonDeserialize(using = SetResource.Reader.class)
public final class SetResource extends JobResource {

  private static final long serialVersionUID = 1L;

  private final transient SetView set;

  /** Holds this view. */
  public SetResource(SetView set) {
    super(set.job());
    this.set = set;
  }

  /** What is known of the set. */
  public SetView set() {
    return set;
  }

  /** Reads a StatefulSet, and keeps its view only. */
  static final class Reader extends JsonDeserializer<SetResource> {

    private final StatefulSets adapter = new StatefulSets();

    @Override
    public SetResource deserialize(JsonParser parser, DeserializationContext context)
        throws IOException {
      JsonNode object = parser.readValueAsTree();
      if (!object.has("spec")) {
        throw JsonMappingException.from(
            parser,
            "not a StatefulSet as the API server sends it; a cached one can't be written and read");
      }
      return new SetResource(adapter.view(object));
    }
  }
}
