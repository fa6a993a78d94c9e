package dev.sluice.kube.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The outcome of one request about a single object. */
public sealed interface ApiOutcome {

  /** The status code of a server that asks its clients to slow down. */
  int TOO_MANY_REQUESTS = 429;

  /** The request was carried out. */
  final class Written implements ApiOutcome {

    private final byte[] body;

    /** With the body of the answer. */
    public Written(byte[] body) {
      this.body = body;
    }

    /** With an object that the API server could have answered. */
    public Written(JsonNode object) {
      this(object.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** The answer as it was sent; not a copy. */
    public byte[] body() {
      return body;
    }

    /**
     * The object in the answer, parsed anew by each call.
     *
     * @throws IllegalStateException if the answer is no JSON object
     */
    public ObjectNode object() {
      try {
        if (JsonMappers.JSON.readTree(body) instanceof ObjectNode object) {
          return object;
        }
        throw new IllegalStateException("the answer of the API server is no JSON object");
      } catch (IOException e) {
        throw new IllegalStateException("the answer of the API server is not JSON", e);
      }
    }
  }

  /** The object has changed since the version that the request names, or exists already. */
  record Conflict(String message) implements ApiOutcome {

    /** Without the words of the server. */
    public Conflict() {
      this("");
    }
  }

  /** The object, or the collection it would be created in, does not exist. */
  record Gone(String message) implements ApiOutcome {

    /** Without the words of the server. */
    public Gone() {
      this("");
    }
  }

  /** The API server refuses the request, and would refuse it again. */
  record Refused(int code, String message) implements ApiOutcome {}

  /**
   * The result is unknown, or the API server cannot answer now: a later attempt may succeed.
   *
   * @param sent whether the request left this process
   * @param code the status code of the answer; 0 when there was no answer
   * @param retryAfter how long the API server asks the client to wait; zero when it does not ask
   */
  record Unreachable(boolean sent, int code, String message, Duration retryAfter)
      implements ApiOutcome {

    /** No answer came. */
    public static Unreachable unanswered(@Nullable Throwable cause) {
      return new Unreachable(true, 0, String.valueOf(cause), Duration.ZERO);
    }

    /** The request was not sent. */
    public static Unreachable notSent(String reason) {
      return new Unreachable(false, 0, reason, Duration.ZERO);
    }

    /** The same as an exception, for callers that are run again after exceptions. */
    public IllegalStateException exception() {
      return new IllegalStateException(
          code == 0 ? message : "the API server answered " + code + ": " + message);
    }
  }

  /** The outcome that an answer stands for. */
  static ApiOutcome of(HttpResponse<byte[]> response) {
    return of(response, response.body() == null ? new byte[0] : response.body());
  }

  /** The outcome that an answer stands for whose body was read apart from it. */
  static ApiOutcome of(HttpResponse<?> response, byte[] body) {
    if (response.isSuccessful()) {
      return new Written(body);
    }
    int code = response.code();
    String message = message(body);
    return switch (code) {
      case HttpURLConnection.HTTP_CONFLICT -> new Conflict(message);
      case HttpURLConnection.HTTP_NOT_FOUND -> new Gone(message);
      case HttpURLConnection.HTTP_UNAUTHORIZED,
          HttpURLConnection.HTTP_CLIENT_TIMEOUT,
          TOO_MANY_REQUESTS ->
          new Unreachable(true, code, message, retryAfter(response));
      default ->
          code >= HttpURLConnection.HTTP_INTERNAL_ERROR
              ? new Unreachable(true, code, message, retryAfter(response))
              : new Refused(code, message);
    };
  }

  /** The words of a Status object; the body itself when it is none. */
  private static String message(byte[] body) {
    String text = new String(body, StandardCharsets.UTF_8);
    try {
      return JsonMappers.JSON.readTree(body).path("message").asText(text);
    } catch (IOException notJson) {
      return text;
    }
  }

  private static Duration retryAfter(HttpResponse<?> response) {
    String seconds = response.header("Retry-After");
    return seconds != null && seconds.matches("[0-9]{1,2}")
        ? Duration.ofSeconds(Long.parseLong(seconds))
        : Duration.ZERO;
  }
}
