package dev.sluice.workload;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.kube.client.Backoff;
import dev.sluice.kube.client.RawRequests;
import dev.sluice.workload.WorkloadWriter.Outcome;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * One write from its first request to its certain outcome. What was sent and not answered, or
 * answered by a failure of the server, is looked up in the object before it is sent again; so is a
 * conflict, since the HTTP client may have repeated a request whose first answer was lost.
 */
final class RetryingWrite {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final ApiWrite apiWrite;
  private final int mostAttempts;
  private final Backoff backoff;
  private final Dependencies around;
  private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
  private int attempts;

  /** How the server last failed; what a failed server did is only known by looking. */
  private Outcome.@Nullable Refused failure;

  /** What a write needs of its writer; {@code answers} gives the version of an object. */
  record Dependencies(
      RawRequests requests,
      Pauses pauses,
      WriterCounters counters,
      ToLongFunction<byte[]> answers) {}

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
    around.counters().request();
    call(apiWrite.request(around.requests()), this::answered, () -> lookUp(false));
  }

  private void answered(HttpResponse<byte[]> response) {
    int code = response.code();
    if (response.isSuccessful()) {
      end(new Outcome.Written(around.answers().applyAsLong(response.body())));
    } else if (code == 404) {
      end(new Outcome.Gone());
    } else if (code == 409) {
      lookUp(true);
    } else if (code == 429) {
      again(response);
    } else if (code >= 500) {
      failure = refusal(response);
      lookUp(false);
    } else {
      end(refusal(response));
    }
  }

  private void lookUp(boolean afterConflict) {
    around.counters().readBack();
    call(
        around.requests().read(apiWrite.id()),
        response -> found(response, afterConflict),
        () -> pauseAnd(() -> lookUp(afterConflict)));
  }

  private void found(HttpResponse<byte[]> response, boolean afterConflict) {
    if (response.code() == 404) {
      if (apiWrite instanceof ApiWrite.Create) {
        sendAgain();
      } else {
        end(new Outcome.Gone());
      }
      return;
    }
    if (!response.isSuccessful()) {
      pauseAnd(() -> lookUp(afterConflict));
      return;
    }
    long version = around.answers().applyAsLong(response.body());
    classify(tree(response.body()), version, afterConflict);
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

  private void again(HttpResponse<byte[]> response) {
    if (attempts >= mostAttempts) {
      end(refusal(response));
      return;
    }
    String seconds = response.header("Retry-After");
    Duration pause = backoff.next();
    if (seconds != null && seconds.matches("[0-9]{1,2}")) {
      pause = pause.plusSeconds(Long.parseLong(seconds));
    }
    around.counters().retry();
    around.pauses().after(pause, this::send);
  }

  private void pauseAnd(Runnable next) {
    if (outcome.isDone()) {
      return;
    }
    around.counters().retry();
    around.pauses().after(backoff.next(), next);
  }

  private void call(
      HttpRequest request, Consumer<HttpResponse<byte[]>> answered, Runnable unanswered) {
    around
        .requests()
        .http()
        .sendAsync(request, byte[].class)
        .<@Nullable Void>handle(
            (response, failure) -> {
              handle(response, failure, answered, unanswered);
              return null;
            })
        .exceptionally(
            bug -> {
              outcome.completeExceptionally(bug);
              throw new IllegalStateException("write of " + apiWrite.id() + " failed", bug);
            });
  }

  private static void handle(
      @Nullable HttpResponse<byte[]> response,
      @Nullable Throwable failure,
      Consumer<HttpResponse<byte[]>> answered,
      Runnable unanswered) {
    if (failure == null && response != null) {
      answered.accept(response);
    } else {
      unanswered.run();
    }
  }

  private void end(Outcome result) {
    if (outcome.complete(result)) {
      around.counters().outcome(result);
    }
  }

  private static Outcome.Refused refusal(HttpResponse<byte[]> response) {
    String text = new String(response.body(), StandardCharsets.UTF_8);
    String message = tree(response.body()).path("message").asText(text);
    return new Outcome.Refused(response.code(), message);
  }

  private static JsonNode tree(byte[] body) {
    try {
      return MAPPER.readTree(body);
    } catch (IOException e) {
      return MAPPER.missingNode();
    }
  }
}
