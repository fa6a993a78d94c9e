package dev.sluice.workload;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Backoff;
import dev.sluice.workload.WorkloadWriter.Outcome;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * One write from its first request to its certain outcome. What was sent and not answered, or
 * answered by a failure of the server, is looked up in the object before it is sent again; so is a
 * conflict, since an earlier attempt whose answer was lost may be what the request conflicts with.
 */
final class RetryingWrite {

  private final ApiWrite apiWrite;
  private final int mostAttempts;
  private final Backoff backoff;
  private final Dependencies around;
  private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
  private int attempts;

  /** How the server last failed; what a failed server did is only known by looking. */
  private Outcome.@Nullable Refused failure;

  /** What a write needs of its writer; {@code answers} gives the version of an object. */
  record Dependencies(ApiClient client, Pauses pauses, ToLongFunction<byte[]> answers) {}

  /** Runs something after a while. */
  @FunctionalInterface
  interface Pauses {
    void after(Duration pause, Runnable task);
  }

  /** {@code mostAttempts} limits how often answers of failure are borne. */
  RetryingWrite(ApiWrite apiWrite, int mostAttempts, Backoff backoff, Dependencies around) {
    this.apiWrite = apiWrite;
    this.mostAttempts = mostAttempts;
    this.backoff = backoff;
    this.around = around;
  }

  CompletableFuture<Outcome> outcome() {
    return outcome;
  }

  /** Ends it without knowing; the API server's own word is what counts then. */
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
          end(new Outcome.Written(around.answers().applyAsLong(written.body())));
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
      long version = around.answers().applyAsLong(written.body());
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

  /** The server did nothing and asks for patience. */
  private void again(ApiOutcome.Unreachable answer) {
    if (attempts >= mostAttempts) {
      end(refusal(answer));
      return;
    }
    around.pauses().after(backoff.next().plus(answer.retryAfter()), this::send);
  }

  private void pauseAnd(Runnable next) {
    if (outcome.isDone()) {
      return;
    }
    around.pauses().after(backoff.next(), next);
  }

  private void call(ApiRequest request, Consumer<ApiOutcome> answered) {
    var unused =
        around
            .client()
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
