package dev.sluice.jobs.kinds.pod;

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

/** A Pod in the cache. */
@Group("")
@Version("v1")
@Kind("Pod")
@Plural("pods")
@JsonDeserialize(using = PodResource.Reader.class)
public final class PodResource extends JobResource {

  private static final long serialVersionUID = 1L;

  private final transient CachedPod pod;

  /** Holds this view. */
  public PodResource(CachedPod pod) {
    super(pod.job());
    this.pod = pod;
  }

  private PodResource(CachedPod pod, UnreadableMetadata metadata) {
    super(pod.job(), metadata);
    this.pod = pod;
  }

  /** What is known of the pod. */
  public CachedPod pod() {
    return pod;
  }

  /** Reads a Pod, and keeps its view only. */
  static final class Reader extends JsonDeserializer<PodResource> {

    private final SinglePod adapter = new SinglePod();

    @Override
    public PodResource deserialize(JsonParser parser, DeserializationContext context)
        throws IOException {
      return TolerantDeserializers.read(
          parser,
          context,
          object -> new PodResource(CachedPodParser.of(adapter, object)),
          (object, metadata) -> new PodResource(CachedPodParser.unreadable(object), metadata));
    }
  }
}
