package dev.sluice.kube.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.kube.leader.Leadership;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes to single objects of queue kinds, as prebuilt merge patches: only what changes is sent, so
 * that what others wrote stays. Bounded in number at a time; a call blocks until the answer is
 * there, which virtual threads may.
 */
public final class ApiPatcher {

  private static final Logger LOG = LoggerFactory.getLogger(ApiPatcher.class);
  private static final String MERGE_PATCH = "application/merge-patch+json";
  private static final int TOO_MANY_REQUESTS = 429;

  private final KubernetesClient client;
  private final ObjectMapper mapper;
  private final Leadership leadership;
  private final Semaphore free;

  /**
   * A writer.
   *
   * @param leadership is asked before each write; who doesn't lead writes nothing
   * @param atATime how many patches may be under way at once
   */
  public ApiPatcher(
      KubernetesClient client, ObjectMapper mapper, Leadership leadership, int atATime) {
    this.client = client;
    this.mapper = mapper;
    this.leadership = leadership;
    this.free = new Semaphore(atATime);
  }

  /** Patches metadata and spec of an object. */
  public PatchOutcome patch(HasMetadata object, JsonNode patch) {
    return send(object, "", patch);
  }

  /** Patches the status of an object; the patch is of the whole object. */
  public PatchOutcome patchStatus(HasMetadata object, JsonNode patch) {
    return send(object, "/status", patch);
  }

  private PatchOutcome send(HasMetadata object, String subresource, JsonNode patch) {
    free.acquireUninterruptibly();
    try {
      if (!leadership.leading()) {
        return new PatchOutcome.Unreachable("this process doesn't lead");
      }
      HttpClient http = client.getHttpClient();
      HttpRequest request =
          http.newHttpRequestBuilder()
              .uri(path(object) + subresource)
              .method("PATCH", MERGE_PATCH, mapper.writeValueAsString(patch))
              .build();
      PatchOutcome outcome = outcome(http.sendAsync(request, byte[].class).join());
      LOG.debug(
          "{} {} patched subresource={} outcome={} patch={}",
          object.getKind(),
          name(object),
          subresource,
          outcome.getClass().getSimpleName(),
          patch);
      return outcome;
    } catch (CompletionException e) {
      return new PatchOutcome.Unreachable(String.valueOf(e.getCause()));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("patch of " + name(object) + " can't be written", e);
    } finally {
      free.release();
    }
  }

  private PatchOutcome outcome(HttpResponse<byte[]> response) {
    int code = response.code();
    byte[] body = response.body() == null ? new byte[0] : response.body();
    if (response.isSuccessful()) {
      try {
        return new PatchOutcome.Written(mapper.readTree(body));
      } catch (IOException e) {
        return new PatchOutcome.Unreachable("answer can't be read: " + e.getMessage());
      }
    }
    return switch (code) {
      case HttpURLConnection.HTTP_CONFLICT -> new PatchOutcome.Conflict();
      case HttpURLConnection.HTTP_NOT_FOUND -> new PatchOutcome.Gone();
      case TOO_MANY_REQUESTS -> new PatchOutcome.Unreachable("the API server is busy");
      default ->
          code >= HttpURLConnection.HTTP_INTERNAL_ERROR
              ? new PatchOutcome.Unreachable(code + " " + message(body))
              : new PatchOutcome.Refused(code, message(body));
    };
  }

  private String message(byte[] body) {
    try {
      return mapper.readTree(body).path("message").asText();
    } catch (IOException e) {
      return new String(body, StandardCharsets.UTF_8);
    }
  }

  private String path(HasMetadata object) {
    String group = object.getApiVersion();
    String namespace = object.getMetadata().getNamespace();
    String root = client.getMasterUrl().toString();
    return root
        + (root.endsWith("/") ? "" : "/")
        + (group.contains("/") ? "apis/" : "api/")
        + group
        + (namespace == null ? "" : "/namespaces/" + namespace)
        + "/"
        + object.getPlural()
        + "/"
        + object.getMetadata().getName();
  }

  private static String name(HasMetadata object) {
    String namespace = object.getMetadata().getNamespace();
    return (namespace == null ? "" : namespace + "/") + object.getMetadata().getName();
  }
}
