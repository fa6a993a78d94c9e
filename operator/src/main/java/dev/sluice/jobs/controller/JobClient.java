package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Jobs, and what belongs to them, at the API server: single reads and guarded writes. */
public interface JobClient {

  /** For {@link #patch}: any version of the job with this UID. */
  long ANY_VERSION = 0;

  /**
   * Patches a job.
   *
   * @param version the resourceVersion that must still hold, or {@link #ANY_VERSION}
   */
  CompletableFuture<ApiOutcome> patch(JobRef job, long version, JobPatch patch);

  /** Deletes a job in the background, if it still has this UID. */
  CompletableFuture<ApiOutcome> delete(JobRef job);

  /** Creates an object in a collection. */
  CompletableFuture<ApiOutcome> create(String collection, ObjectNode object);

  /** Deletes the object at a path, if it still has this UID. */
  CompletableFuture<ApiOutcome> delete(String path, String uid);

  /**
   * Reads the newest state of the object at a path; empty when there is none. The future fails when
   * the API server does not answer or refuses.
   */
  CompletableFuture<Optional<ObjectNode>> read(String path);

  /**
   * Reads the objects of a collection, one at a time; blocks.
   *
   * @param path the collection, and what is selected of it
   * @param each gets each object
   * @throws IllegalStateException if the API server doesn't answer or refuses
   */
  void list(String path, Consumer<JsonNode> each);

  /**
   * {@link JobClient} by requests about single objects: prebuilt merge patches, no typed objects.
   * The status of a kind whose definition has no status subresource is written with the object.
   */
  final class KubernetesJobClient implements JobClient {

    private final ApiClient client;

    /** Over the connections of this client. */
    public KubernetesJobClient(ApiClient client) {
      this.client = client;
    }

    @Override
    public CompletableFuture<ApiOutcome> patch(JobRef job, long version, JobPatch patch) {
      ObjectNode body = patch.body().deepCopy();
      ObjectNode metadata = body.withObjectProperty("metadata");
      if (version == ANY_VERSION) {
        metadata.put("uid", job.uid());
      } else {
        metadata.put("resourceVersion", Long.toString(version));
      }
      return patch.ofStatus()
          ? send(path(job) + "/status", body, patch)
              .thenCompose(
                  outcome ->
                      outcome instanceof ApiOutcome.Gone
                          ? send(path(job), body, patch)
                          : CompletableFuture.completedFuture(outcome))
          : send(path(job), body, patch);
    }

    private CompletableFuture<ApiOutcome> send(String path, ObjectNode body, JobPatch patch) {
      return client.send(ApiRequest.patch(path, body).by(patch.fieldOwner()));
    }

    @Override
    public CompletableFuture<ApiOutcome> delete(JobRef job) {
      return client.send(ApiRequest.delete(path(job), job.uid()));
    }

    @Override
    public CompletableFuture<ApiOutcome> create(String collection, ObjectNode object) {
      return client.send(ApiRequest.create(collection, object));
    }

    @Override
    public CompletableFuture<ApiOutcome> delete(String path, String uid) {
      return client.send(ApiRequest.delete(path, uid));
    }

    @Override
    public CompletableFuture<Optional<ObjectNode>> read(String path) {
      return client
          .send(ApiRequest.get(path))
          .thenApply(
              outcome ->
                  switch (outcome) {
                    case ApiOutcome.Written found -> Optional.of(found.object());
                    case ApiOutcome.Gone gone -> Optional.empty();
                    case ApiOutcome.Conflict conflict ->
                        throw new IllegalStateException("conflict: " + conflict.message());
                    case ApiOutcome.Refused refused ->
                        throw new IllegalStateException(
                            "the API server answered " + refused.code() + ": " + refused.message());
                    case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
                  });
    }

    @Override
    public void list(String path, Consumer<JsonNode> each) {
      try {
        client.list(path, each);
      } catch (IOException e) {
        throw new IllegalStateException(path + " not read: " + e.getMessage(), e);
      }
    }

    private static String path(JobRef job) {
      return job.kind().path(job.namespace(), job.name());
    }
  }
}
