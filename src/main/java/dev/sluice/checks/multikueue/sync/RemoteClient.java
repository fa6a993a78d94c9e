package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.HttpURLConnection;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Single objects at one API server, as JSON. Calls block until the answer is there, for fifteen
 * seconds at most, and only so many are under way at a time.
 */
final class RemoteClient {

  private static final int AT_A_TIME = 16;
  private static final long PATIENCE_SECONDS = 15;
  private static final String MERGE_PATCH = "application/merge-patch+json";

  private final KubernetesClient client;
  private final HttpClient http;
  private final String root;
  private final Semaphore free = new Semaphore(AT_A_TIME);
  private final ObjectMapper mapper = new ObjectMapper();

  RemoteClient(KubernetesClient client) {
    this.client = client;
    this.http = client.getHttpClient();
    String url = client.getMasterUrl().toString();
    this.root = url.endsWith("/") ? url : url + "/";
  }

  /** The server says no, and would again. */
  static final class RefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    RefusedException(String message) {
      super(message);
    }
  }

  /** The object has moved on. */
  static final class ConflictException extends IOException {
    private static final long serialVersionUID = 1L;

    ConflictException(String message) {
      super(message);
    }
  }

  boolean isOf(KubernetesClient other) {
    return client == other;
  }

  /** The object of this path; empty when there is none. */
  Optional<ObjectNode> get(String path) throws IOException {
    return object(send(request(path)));
  }

  /** Makes an object in a collection; false when there is one of its name. */
  boolean create(String collection, JsonNode object) throws IOException {
    HttpResponse<byte[]> answer =
        send(request(collection).method("POST", "application/json", object.toString()));
    if (answer.code() == HttpURLConnection.HTTP_CONFLICT) {
      return false;
    }
    if (answer.code() == HttpURLConnection.HTTP_NOT_FOUND) {
      throw new RefusedException(message(answer));
    }
    object(answer);
    return true;
  }

  /** Patches what is at this path; empty when there is nothing. */
  Optional<ObjectNode> patch(String path, JsonNode patch) throws IOException {
    return object(send(request(path).method("PATCH", MERGE_PATCH, patch.toString())));
  }

  /** Deletes an object, and what it owns in the background, if it still is this one. */
  void delete(String path, JsonNode object) throws IOException {
    ObjectNode options = mapper.createObjectNode();
    options.put("kind", "DeleteOptions").put("apiVersion", "v1");
    options.put("propagationPolicy", "Background");
    options.putObject("preconditions").put("uid", object.path("metadata").path("uid").asText());
    object(send(request(path).method("DELETE", "application/json", options.toString())));
  }

  private HttpRequest.Builder request(String path) {
    return http.newHttpRequestBuilder().uri(root + path);
  }

  private HttpResponse<byte[]> send(HttpRequest.Builder request) throws IOException {
    try {
      free.acquire();
      try {
        return http.sendAsync(request.build(), byte[].class)
            .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      } finally {
        free.release();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    } catch (ExecutionException e) {
      throw new IOException(String.valueOf(e.getCause()), e);
    } catch (TimeoutException e) {
      throw new IOException("no answer within " + PATIENCE_SECONDS + "s", e);
    }
  }

  private Optional<ObjectNode> object(HttpResponse<byte[]> answer) throws IOException {
    if (answer.isSuccessful()) {
      return mapper.readTree(answer.body()) instanceof ObjectNode object
          ? Optional.of(object)
          : Optional.empty();
    }
    return switch (answer.code()) {
      case HttpURLConnection.HTTP_NOT_FOUND -> Optional.empty();
      case HttpURLConnection.HTTP_CONFLICT -> throw new ConflictException(message(answer));
      case HttpURLConnection.HTTP_BAD_REQUEST, HttpURLConnection.HTTP_FORBIDDEN, 422 ->
          throw new RefusedException(message(answer));
      default -> throw new IOException("HTTP " + answer.code() + ": " + message(answer));
    };
  }

  private String message(HttpResponse<byte[]> answer) throws IOException {
    byte[] body = answer.body() == null ? new byte[0] : answer.body();
    return mapper.readTree(body).path("message").asText();
  }
}
