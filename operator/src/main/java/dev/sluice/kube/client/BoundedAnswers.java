package dev.sluice.kube.client;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Reads answers of a server that isn't trusted: of each, and of all that are under way, only so
 * many bytes. Thread-safe.
 */
public final class BoundedAnswers {

  private final int longest;
  private final long together;
  private final Runnable tooLong;
  private final AtomicLong underWay = new AtomicLong();

  /**
   * With nothing under way.
   *
   * @param longest the most bytes of one answer
   * @param together the most bytes of all answers that are being read
   */
  public BoundedAnswers(int longest, long together) {
    this(longest, together, () -> {});
  }

  /**
   * The same with a listener.
   *
   * @param tooLong called when one answer is longer than the longest, on a thread of the HTTP
   *     client; must not block
   */
  public BoundedAnswers(int longest, long together, Runnable tooLong) {
    this.longest = longest;
    this.together = together;
    this.tooLong = tooLong;
  }

  /** An answer that was read. */
  record Answer(HttpResponse<AsyncBody> head, byte[] body) {}

  /**
   * Sends a request and reads the answer; completes with {@link AnswerTooLongException} when there
   * is too much of it. Whoever cancels the result ends the reading.
   */
  CompletableFuture<Answer> send(HttpClient http, HttpRequest request) {
    Body body = new Body();
    CompletableFuture<Answer> result =
        http.consumeBytes(request, body::take)
            .thenCompose(
                head -> {
                  CompletableFuture<Void> done = head.body().done();
                  body.begin(head.body());
                  return CompletableFuture.anyOf(done, body.excess)
                      .thenApply(end -> new Answer(head, body.bytes()));
                });
    var unused = result.whenComplete((answer, failure) -> body.end(failure != null));
    return result;
  }

  /** The bytes of one answer so far. */
  private final class Body {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final CompletableFuture<Void> excess = new CompletableFuture<>();
    private @Nullable AsyncBody source;
    private boolean ended;

    synchronized void begin(AsyncBody body) {
      source = body;
      if (ended) {
        body.cancel();
      } else {
        body.consume();
      }
    }

    synchronized void take(List<ByteBuffer> pieces, AsyncBody body) {
      if (ended) {
        body.cancel();
        return;
      }
      for (ByteBuffer piece : pieces) {
        int length = piece.remaining();
        boolean isTooLong = bytes.size() + length > longest;
        if (isTooLong || underWay.get() + length > together) {
          if (isTooLong) {
            tooLong.run();
          }
          excess.completeExceptionally(
              new AnswerTooLongException("an answer of more than " + longest + " bytes"));
          return;
        }
        underWay.addAndGet(length);
        byte[] copy = new byte[length];
        piece.get(copy);
        bytes.writeBytes(copy);
      }
      body.consume();
    }

    synchronized byte[] bytes() {
      return bytes.toByteArray();
    }

    synchronized void end(boolean failed) {
      if (!ended) {
        ended = true;
        underWay.addAndGet(-bytes.size());
        if (failed && source != null) {
          source.cancel();
        }
      }
    }
  }

  /** A server sends more than it is allowed to. */
  public static final class AnswerTooLongException extends IOException {

    private static final long serialVersionUID = 1L;

    /** With what is too long, and the limit. */
    public AnswerTooLongException(String message) {
      super(message);
    }
  }
}
