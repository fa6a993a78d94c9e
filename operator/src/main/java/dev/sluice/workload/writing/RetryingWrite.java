package dev.sluice.workload.writing;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Backoff;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Repeats the request of one write until its outcome is certain. A request may have been carried
 * out although its response was lost or was a server error. Therefore the object is read before the
 * request is repeated. It is read after a conflict, too: the cause may be an earlier attempt of the
 * same write whose response was lost.
 */
final class RetryingWrite {

  private final ApiWrite apiWrite;
  private final int mostAttempts;
  private final Backoff backoff;
  private final ApiClient client;
  private final Pauses pauses;
  private final ToLongFunction<byte[]> versionOf;
  private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
  private int attempts;

  /** The last server error; empty after any other response. */
  private Outcome.@Nullable Refused failure;

  /** Runs a task after a pause. */
  @FunctionalInterface
  interface Pauses {
    void after(Duration pause, Runnable task);
  }

  /**
   * Creates a write that has not been sent yet.
   *
   * @param mostAttempts after how many attempts a server error or a conflict is the outcome
   * @param versionOf reads the resource version of the object in a response
   */
  RetryingWrite(
      ApiWrite apiWrite,
      int mostAttempts,
      Backoff backoff,
      ApiClient client,
      Pauses pauses,
      ToLongFunction<byte[]> versionOf) {
    this.apiWrite = apiWrite;
    this.mostAttempts = mostAttempts;
    this.backoff = backoff;
    this.client = client;
    this.pauses = pauses;
    this.versionOf = versionOf;
  }

  CompletableFuture<Outcome> outcome() {
    return outcome;
  }

  /** Ends the write with this outcome; whether it was carried out is not known. */
  void abandon(Outcome unknown) {
    end(unknown);
  }

  void send() {
    if (outcome.isDone()) {
      return;
    }
    attempts++;
    failure = null;
    call(apiWrite.request(), this::answered);
  }

  private void answered(ApiOutcome answer) {
    switch (answer) {
      case ApiOutcome.Written written ->
          end(new Outcome.Written(versionOf.applyAsLong(written.body())));
      case ApiOutcome.Gone gone -> end(new Outcome.Gone());
      case ApiOutcome.Conflict conflict -> lookUp(true);
      case ApiOutcome.Refused refused ->
          end(new Outcome.Refused(refused.code(), refused.message()));
      case ApiOutcome.Unreachable unreachable -> notCarriedOut(unreachable);
    }
  }

  private void notCarriedOut(ApiOutcome.Unreachable answer) {
    if (!answer.sent()) {
      end(refusal(answer));
    } else if (answer.code() == 0) {
      lookUp(false);
    } else if (answer.code() < HttpURLConnection.HTTP_INTERNAL_ERROR) {
      again(answer);
    } else {
      failure = refusal(answer);
      lookUp(false);
    }
  }

  private void lookUp(boolean afterConflict) {
    call(apiWrite.read(), answer -> found(answer, afterConflict));
  }

  private void found(ApiOutcome answer, boolean afterConflict) {
    if (answer instanceof ApiOutcome.Gone) {
      if (apiWrite instanceof ApiWrite.Create) {
        sendAgain();
      } else {
        end(new Outcome.Gone());
      }
    } else if (answer instanceof ApiOutcome.Written written) {
      long version = versionOf.applyAsLong(written.body());
      classify(written.object(), version, afterConflict);
    } else {
      pauseAnd(() -> lookUp(afterConflict));
    }
  }

  private void classify(JsonNode object, long version, boolean afterConflict) {
    String uid = object.path("metadata").path("uid").asText("");
    if (!apiWrite.id().uid().isEmpty() && !uid.equals(apiWrite.id().uid())) {
      end(new Outcome.Gone());
    } else if (apiWrite.isAppliedIn(object)) {
      end(new Outcome.Written(version));
    } else if (apiWrite.isSupersededBy(object) || (afterConflict && attempts >= mostAttempts)) {
      end(new Outcome.Conflict());
    } else {
      sendAgain();
    }
  }

  private void sendAgain() {
    Outcome failed = failure;
    if (failed != null && attempts >= mostAttempts) {
      end(failed);
    } else {
      pauseAnd(this::send);
    }
  }

  /** The server has rejected the request without carrying it out, such as with 429. */
  private void again(ApiOutcome.Unreachable answer) {
    if (attempts >= mostAttempts) {
      end(refusal(answer));
      return;
    }
    pauses.after(backoff.next().plus(answer.retryAfter()), this::send);
  }

  private void pauseAnd(Runnable next) {
    if (outcome.isDone()) {
      return;
    }
    pauses.after(backoff.next(), next);
  }

  private void call(ApiRequest request, Consumer<ApiOutcome> answered) {
    var unused =
        client
            .send(request)
            .thenAccept(answered)
            .exceptionally(
                bug -> {
                  outcome.completeExceptionally(bug);
                  throw new IllegalStateException("write of " + apiWrite.id() + " failed", bug);
                });
  }

  private void end(Outcome result) {
    outcome.complete(result);
  }

  private static Outcome.Refused refusal(ApiOutcome.Unreachable answer) {
    return new Outcome.Refused(
        answer.code() == 0 ? HttpURLConnection.HTTP_UNAVAILABLE : answer.code(), answer.message());
  }
}
