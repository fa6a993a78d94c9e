package dev.sluice.jobs.statefulset;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.sluice.api.reading.GuardedReading;
import dev.sluice.api.reading.Unreadable;
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

  private SetResource(SetView set, Unreadable metadata) {
    super(set.job(), metadata);
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
      return GuardedReading.read(
          parser,
          context,
          object -> new SetResource(adapter.view(object)),
          (object, metadata) -> new SetResource(StatefulSets.unreadable(object), metadata));
    }
  }
}
