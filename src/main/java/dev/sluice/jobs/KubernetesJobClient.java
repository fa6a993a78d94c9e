package dev.sluice.jobs;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** {@link JobClient} over a client's connection: prebuilt merge patches, no typed objects. */
public final class KubernetesJobClient implements JobClient {

  private static final String MERGE_PATCH = "application/merge-patch+json";

  private final KubernetesClient client;
  private final ObjectMapper json = new ObjectMapper();
  private final String server;

  /** Over the connection of this client, which stays its owner's to close. */
  public KubernetesJobClient(KubernetesClient client) {
    this.client = client;
    String url = client.getMasterUrl().toString();
    this.server = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
  }

  @Override
  public CompletableFuture<Outcome> patch(JobRef job, long version, JobPatch patch) {
    ObjectNode body = patch.body().deepCopy();
    body.withObjectProperty("metadata").put("resourceVersion", Long.toString(version));
    String path =
        job.kind().path(job.namespace(), job.name())
            + (patch.ofStatus() ? "/status" : "")
            + (patch.fieldOwner().isEmpty() ? "" : "?fieldManager=" + patch.fieldOwner());
    HttpClient http = client.getHttpClient();
    HttpRequest request =
        http.newHttpRequestBuilder()
            .uri(server + path)
            .method("PATCH", MERGE_PATCH, body.toString())
            .build();
    return http.sendAsync(request, byte[].class).thenApply(this::outcome);
  }

  @Override
  public CompletableFuture<Outcome> delete(JobRef job) {
    ObjectNode body = json.createObjectNode().put("kind", "DeleteOptions").put("apiVersion", "v1");
    body.put("propagationPolicy", "Background");
    body.putObject("preconditions").put("uid", job.uid());
    HttpClient http = client.getHttpClient();
    HttpRequest request =
        http.newHttpRequestBuilder()
            .uri(server + job.kind().path(job.namespace(), job.name()))
            .method("DELETE", "application/json", body.toString())
            .build();
    return http.sendAsync(request, byte[].class).thenApply(this::outcome);
  }

  private Outcome outcome(HttpResponse<byte[]> response) {
    return switch (response.code()) {
      case 200, 201, 202 -> new Outcome.Written(object(response));
      case 404 -> new Outcome.Gone();
      case 409 -> new Outcome.Conflict();
      case 400, 403, 413, 422 -> new Outcome.Refused(response.code(), message(response));
      default -> throw failure(response);
    };
  }

  @Override
  public CompletableFuture<Optional<ObjectNode>> read(String path) {
    HttpClient http = client.getHttpClient();
    HttpRequest request = http.newHttpRequestBuilder().uri(server + path).build();
    return http.sendAsync(request, byte[].class)
        .thenApply(
            response ->
                switch (response.code()) {
                  case 200 -> Optional.of(object(response));
                  case 404 -> Optional.empty();
                  default -> throw failure(response);
                });
  }

  private ObjectNode object(HttpResponse<byte[]> response) {
    try {
      return (ObjectNode) json.readTree(response.body());
    } catch (IOException e) {
      throw new UncheckedIOException("the API server's answer is not JSON", e);
    }
  }

  private String message(HttpResponse<byte[]> response) {
    try {
      return json.readTree(response.body()).path("message").asText();
    } catch (IOException notJson) {
      return new String(response.body(), StandardCharsets.UTF_8);
    }
  }

  private IllegalStateException failure(HttpResponse<byte[]> response) {
    return new IllegalStateException(
        "the API server answered " + response.code() + ": " + message(response));
  }
}
