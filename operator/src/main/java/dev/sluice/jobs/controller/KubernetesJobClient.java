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

/**
 * {@link JobClient} by requests about single objects: prebuilt merge patches, no typed objects. The
 * status of a kind whose definition has no status subresource is written with the object.
 */
public final class KubernetesJobClient implements JobClient {

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
