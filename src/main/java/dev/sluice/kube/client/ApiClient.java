package dev.sluice.kube.client;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests about single objects at one API server, as JSON. Writes are prebuilt merge patches: only
 * what changes is sent, so that what others wrote stays. From any thread.
 */
public final class ApiClient {

  private static final Logger LOG = LoggerFactory.getLogger(ApiClient.class);

  private final KubernetesClient client;
  private final String server;
  private final Options options;
  private final RequestSlots slots;

  /**
   * How requests are sent.
   *
   * @param atATime how many requests may be under way at once
   * @param timeout how long one attempt may take
   * @param limiter the rate of requests; clients of one server may share it
   * @param mayWrite is asked at the moment when a write is sent, such as whether this process leads
   */
  public record Options(
      int atATime, Duration timeout, RequestLimiter limiter, BooleanSupplier mayWrite) {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    /** Half a minute for each attempt, no limit of the rate, and writes at any time. */
    public static Options atATime(int atATime) {
      return new Options(atATime, TIMEOUT, RequestLimiter.unlimited(), () -> true);
    }

    /** The same with another timeout. */
    public Options within(Duration newTimeout) {
      return new Options(atATime, newTimeout, limiter, mayWrite);
    }

    /** The same with a limit of the rate. */
    public Options limitedBy(RequestLimiter newLimiter) {
      return new Options(atATime, timeout, newLimiter, mayWrite);
    }

    /** The same with writes only while this holds. */
    public Options writingWhile(BooleanSupplier condition) {
      return new Options(atATime, timeout, limiter, condition);
    }
  }

  /** Requests over the connections of {@code client}, which stays the caller's to close. */
  public ApiClient(KubernetesClient client, Options options) {
    this.client = client;
    String url = client.getMasterUrl().toString();
    this.server = url.endsWith("/") ? url : url + "/";
    this.options = options;
    this.slots = new RequestSlots(options.atATime());
  }

  /** Whether the requests go over the connections of this client. */
  public boolean isOf(KubernetesClient other) {
    return client == other;
  }

  /** Patches metadata and spec of an object; blocks until the outcome is there. */
  public ApiOutcome patch(HasMetadata object, JsonNode patch) {
    return send(ApiRequest.patch(ObjectPath.of(object).object(), patch)).join();
  }

  /**
   * Patches the status of an object; the patch is of the whole object. Blocks until the outcome is
   * there.
   */
  public ApiOutcome patchStatus(HasMetadata object, JsonNode patch) {
    return send(ApiRequest.patch(ObjectPath.of(object).status(), patch)).join();
  }

  /**
   * Sends a request when its turn comes; the future never completes with an exception. A request
   * whose future was cancelled before its turn is not sent.
   */
  public CompletableFuture<ApiOutcome> send(ApiRequest request) {
    CompletableFuture<ApiOutcome> result = new CompletableFuture<>();
    slots.submit(
        () -> {
          if (result.isDone()) {
            slots.release();
            return;
          }
          Duration pause = options.limiter().reserve();
          if (pause.isZero()) {
            start(request, result);
          } else {
            CompletableFuture.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS)
                .execute(() -> start(request, result));
          }
        });
    return result;
  }

  private void start(ApiRequest request, CompletableFuture<ApiOutcome> result) {
    if (result.isDone()) {
      slots.release();
      return;
    }
    if (request.isWrite() && !options.mayWrite().getAsBoolean()) {
      end(request, result, ApiOutcome.Unreachable.notSent("this process does not lead"));
      return;
    }
    CompletableFuture<HttpResponse<byte[]>> answer;
    try {
      HttpClient http = client.getHttpClient();
      answer = http.sendAsync(http(http, request), byte[].class);
    } catch (RuntimeException e) {
      end(request, result, ApiOutcome.Unreachable.unanswered(e));
      return;
    }
    var unused =
        answer.whenComplete(
            (response, failure) -> end(request, result, outcome(response, failure)));
  }

  private HttpRequest http(HttpClient http, ApiRequest request) {
    String path = request.path();
    HttpRequest.Builder builder =
        http.newHttpRequestBuilder()
            .uri(server + (path.startsWith("/") ? path.substring(1) : path))
            .header("Accept", "application/json")
            .timeout(options.timeout().toMillis(), TimeUnit.MILLISECONDS);
    return request.contentType().isEmpty()
        ? builder.build()
        : builder.method(request.method(), request.contentType(), request.body()).build();
  }

  private static ApiOutcome outcome(
      @Nullable HttpResponse<byte[]> response, @Nullable Throwable failure) {
    if (response == null || failure != null) {
      Throwable cause =
          failure == null || failure.getCause() == null ? failure : failure.getCause();
      return ApiOutcome.Unreachable.unanswered(cause);
    }
    return ApiOutcome.of(response);
  }

  private void end(ApiRequest request, CompletableFuture<ApiOutcome> result, ApiOutcome outcome) {
    if (request.isWrite()) {
      LOG.debug(
          "{} {} outcome={} body={}",
          request.method(),
          request.path(),
          outcome.getClass().getSimpleName(),
          request.body());
    }
    try {
      result.complete(outcome);
    } finally {
      slots.release();
    }
  }
}
