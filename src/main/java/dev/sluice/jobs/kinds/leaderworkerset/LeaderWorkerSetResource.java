package dev.sluice.jobs.kinds.leaderworkerset;

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

/** A LeaderWorkerSet in the cache. */
@Group("leaderworkerset.x-k8s.io")
@Version("v1")
@Kind("LeaderWorkerSet")
@Plural("leaderworkersets")
@JsonDeserialize(using = LeaderWorkerSetResource.Reader.class)
public final class LeaderWorkerSetResource extends JobResource {

  private static final long serialVersionUID = 1L;

  private final transient CachedLeaderWorkerSet set;

  /** Holds this view. */
  public LeaderWorkerSetResource(CachedLeaderWorkerSet set) {
    super(set.job());
    this.set = set;
  }

  private LeaderWorkerSetResource(CachedLeaderWorkerSet set, UnreadableMetadata metadata) {
    super(set.job(), metadata);
    this.set = set;
  }

  /** What is known of the set. */
  public CachedLeaderWorkerSet set() {
    return set;
  }

  /** Reads a LeaderWorkerSet, and keeps its view only. */
  static final class Reader extends JsonDeserializer<LeaderWorkerSetResource> {

    private final LeaderWorkerSets adapter = new LeaderWorkerSets();

    @Override
    public LeaderWorkerSetResource deserialize(JsonParser parser, DeserializationContext context)
        throws IOException {
      return TolerantDeserializers.read(
          parser,
          context,
          object -> new LeaderWorkerSetResource(adapter.view(object)),
          (object, metadata) ->
              new LeaderWorkerSetResource(LeaderWorkerSets.unreadable(object), metadata));
    }
  }
}
