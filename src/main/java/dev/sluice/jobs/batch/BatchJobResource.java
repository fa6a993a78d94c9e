package dev.sluice.jobs.batch;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.sluice.jobs.CachedJob;
import dev.sluice.jobs.CachedJobParser;
import dev.sluice.jobs.JobResource;
import dev.sluice.kube.reading.TolerantDeserializers;
import dev.sluice.kube.reading.UnreadableMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.io.IOException;

/** A Job of batch/v1 in the cache. */
@Group("batch")
@Version("v1")
@Kind("Job")
@Plural("jobs")
@JsonDeserialize(using = BatchJobResource.Reader.class)
public final class BatchJobResource extends JobResource {

  private static final long serialVersionUID = 1L;

  /** Holds this view. */
  public BatchJobResource(CachedJob view) {
    super(view);
  }

  private BatchJobResource(CachedJob view, UnreadableMetadata metadata) {
    super(view, metadata);
  }

  /** Has this client read Jobs as these resources, wherever it reads one. */
  public static void readBy(KubernetesClient client) {
    client
        .getKubernetesSerialization()
        .registerKubernetesResource(
            BatchJob.KIND.apiVersion(), BatchJob.KIND.kind(), BatchJobResource.class);
  }

  /** Reads a Job, and keeps its view only. */
  static final class Reader extends JsonDeserializer<BatchJobResource> {

    private final BatchJob adapter = new BatchJob();

    @Override
    public BatchJobResource deserialize(JsonParser parser, DeserializationContext context)
        throws IOException {
      return TolerantDeserializers.read(
          parser,
          context,
          object -> new BatchJobResource(CachedJobParser.of(adapter, object)),
          (object, metadata) ->
              new BatchJobResource(CachedJobParser.unreadable(BatchJob.KIND, object), metadata));
    }
  }
}
