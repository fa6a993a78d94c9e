package dev.sluice.jobs.kinds.statefulset;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.sluice.jobs.controller.JobResource;
import dev.sluice.kube.reflect.TolerantDeserializers;
import dev.sluice.kube.reflect.UnreadableMetadata;
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
@JsonDeserialize(using = StatefulSetResource.Reader.class)
public final class StatefulSetResource extends JobResource {

  private static final long serialVersionUID = 1L;

  private final transient CachedStatefulSet set;

  /** Holds this view. */
  public StatefulSetResource(CachedStatefulSet set) {
    super(set.job());
    this.set = set;
  }

  private StatefulSetResource(CachedStatefulSet set, UnreadableMetadata metadata) {
    super(set.job(), metadata);
    this.set = set;
  }

  /** What is known of the set. */
  public CachedStatefulSet set() {
    return set;
  }

  /** Reads a StatefulSet, and keeps its view only. */
  static final class Reader extends JsonDeserializer<StatefulSetResource> {

    private final StatefulSets adapter = new StatefulSets();

    @Override
    public StatefulSetResource deserialize(JsonParser parser, DeserializationContext context)
        throws IOException {
      return TolerantDeserializers.read(
          parser,
          context,
          object -> new StatefulSetResource(adapter.view(object)),
          (object, metadata) -> new StatefulSetResource(StatefulSets.unreadable(object), metadata));
    }
  }
}
