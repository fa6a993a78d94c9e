package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.checks.multikueue.remote.RemoteLimits;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.BoundedAnswers;
import dev.sluice.kube.client.RequestLimiter;
import dev.sluice.kube.client.WriteGate;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Single objects at one API server, as JSON. Calls block until the answer is there, for fifteen
 * seconds at most, and only so many are under way at a time. A write is sent only while this
 * process leads. Outcomes other than success are exceptions.
 */
final class RemoteClient {

  private static final int AT_A_TIME = 16;

  /** The API server stores objects of 1.5 MiB, and writes some of them twice as long. */
  private static final int LONGEST_ANSWER = 4 << 20;

  private static final long ANSWERS_TOGETHER = 2L * LONGEST_ANSWER;
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  private final ApiClient client;
  private final ObjectMapper mapper;

  /**
   * Objects at another API server.
   *
   * @param limiter the rate of requests; clients may share it
   * @param tooLong called when an answer is longer than that of any honest server; must not block
   */
  RemoteClient(
      KubernetesClient client, WriteGate writes, RequestLimiter limiter, Consumer<String> tooLong) {
    this(
        new ApiClient(
            client,
            ApiClient.Options.atATime(AT_A_TIME)
                .within(PATIENCE)
                .limitedBy(limiter)
                .writingThrough(writes)
                .reading(
                    new BoundedAnswers(
                        LONGEST_ANSWER,
                        ANSWERS_TOGETHER,
                        () ->
                            tooLong.accept(
                                "an answer about one object of more than "
                                    + LONGEST_ANSWER
                                    + " bytes")))),
        RemoteLimits.ofHeap(Runtime.getRuntime().maxMemory()).mapper());
  }

  /** Objects at the API server of this client. */
  RemoteClient(ApiClient client) {
    this(client, JsonMappers.JSON);
  }

  private RemoteClient(ApiClient client, ObjectMapper mapper) {
    this.client = client;
    this.mapper = mapper;
  }

  /** The server refuses a request, and would refuse it again. */
  static final class RefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    RefusedException(String message) {
      super(message);
    }
  }

  /** The object has changed. */
  static final class ConflictException extends IOException {
    private static final long serialVersionUID = 1L;

    ConflictException(String message) {
      super(message);
    }
  }

  boolean isOf(KubernetesClient other) {
    return client.isOf(other);
  }

  /** The object of this path; empty when there is none. */
  Optional<ObjectNode> get(String path) throws IOException {
    return object(send(ApiRequest.get(path)));
  }

  /** Makes an object in a collection; false when there is one of its name. */
  boolean create(String collection, JsonNode object) throws IOException {
    return created(collection, object).isPresent();
  }

  /** Makes an object in a collection, and returns it; empty when there is one of its name. */
  Optional<ObjectNode> created(String collection, JsonNode object) throws IOException {
    ApiOutcome outcome = send(ApiRequest.create(collection, object));
    if (outcome instanceof ApiOutcome.Conflict) {
      return Optional.empty();
    }
    if (outcome instanceof ApiOutcome.Gone gone) {
      throw new RefusedException(gone.message());
    }
    return object(outcome);
  }

  /** Patches what is at this path; empty when there is nothing. */
  Optional<ObjectNode> patch(String path, JsonNode patch) throws IOException {
    return object(send(ApiRequest.patch(path, patch)));
  }

  /** Deletes an object, and what it owns in the background, if it still is this one. */
  void delete(String path, JsonNode object) throws IOException {
    object(send(ApiRequest.delete(path, object.path("metadata").path("uid").asText())));
  }

  private ApiOutcome send(ApiRequest request) throws IOException {
    CompletableFuture<ApiOutcome> answer = client.send(request);
    try {
      return answer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      answer.cancel(false);
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    } catch (ExecutionException e) {
      throw new IOException(String.valueOf(e.getCause()), e);
    } catch (TimeoutException e) {
      // A request that still waits for its turn must not reach the worker after newer ones.
      answer.cancel(false);
      throw new IOException("no answer within " + PATIENCE.toSeconds() + "s", e);
    }
  }

  private ObjectNode object(byte[] body) throws IOException {
    if (mapper.readTree(body) instanceof ObjectNode object) {
      return object;
    }
    throw new IOException("the answer is no JSON object");
  }

  private Optional<ObjectNode> object(ApiOutcome outcome) throws IOException {
    return switch (outcome) {
      case ApiOutcome.Written written -> Optional.of(object(written.body()));
      case ApiOutcome.Gone gone -> Optional.empty();
      case ApiOutcome.Conflict conflict -> throw new ConflictException(conflict.message());
      case ApiOutcome.Refused refused -> throw new RefusedException(refused.message());
      case ApiOutcome.Unreachable unreachable ->
          throw new IOException(
              unreachable.code() == 0
                  ? unreachable.message()
                  : "HTTP " + unreachable.code() + ": " + unreachable.message());
    };
  }
}
