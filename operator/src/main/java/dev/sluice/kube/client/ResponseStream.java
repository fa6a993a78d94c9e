package dev.sluice.kube.client;

import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The body of an answer as it comes in, with the moment when something last came. */
public final class ResponseStream extends FilterInputStream {

  private static final int LONGEST_COMPLAINT = 2000;

  private final InstantSource clock;
  private volatile Instant heard;
  private volatile boolean cut;
  private volatile boolean ended;

  private ResponseStream(InputStream body, InstantSource clock) {
    super(body);
    this.clock = clock;
    this.heard = clock.instant();
  }

  /**
   * Sends a request and waits for the head of the answer.
   *
   * @throws ResourceExpiredException on 410
   * @throws ConnectionLostException when the connection ended before an answer came
   * @throws ResponseTimeoutException when no answer came within {@code patience}
   * @throws IOException on any other failure, answers that are none of 2xx included
   */
  public static ResponseStream open(
      HttpClient http, HttpRequest request, Duration patience, InstantSource clock)
      throws IOException {
    CompletableFuture<HttpResponse<InputStream>> answer =
        http.sendAsync(request, InputStream.class);
    HttpResponse<InputStream> response = awaited(answer, patience);
    ResponseStream body = new ResponseStream(response.body(), clock);
    if (response.isSuccessful()) {
      return body;
    }
    try (body) {
      String text = new String(body.readNBytes(LONGEST_COMPLAINT), StandardCharsets.UTF_8).strip();
      String message = "HTTP " + response.code() + " " + text;
      throw response.code() == 410
          ? new ResourceExpiredException(message)
          : new IOException(message);
    }
  }

  private static HttpResponse<InputStream> awaited(
      CompletableFuture<HttpResponse<InputStream>> answer, Duration patience) throws IOException {
    try {
      return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new ConnectionLostException("request failed: " + e.getCause(), e);
    } catch (TimeoutException e) {
      answer.thenAccept(late -> closeQuietly(late.body()));
      throw new ResponseTimeoutException("no answer within " + patience.toSeconds() + "s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    }
  }

  private static void closeQuietly(InputStream body) {
    try {
      body.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    int count = super.read(bytes, offset, length);
    heard = clock.instant();
    ended |= count < 0;
    return count;
  }

  /**
   * Ends an answer that has not come to its end. The client library closes the connection of an
   * answer that is closed, also when the answer is complete and another request uses the connection
   * already.
   */
  @Override
  public void close() throws IOException {
    if (!ended) {
      super.close();
    }
  }

  /** When something last came. */
  public Instant heard() {
    return heard;
  }

  /** Ends it from another thread: the one that reads gets an end or an error. */
  public void cut() {
    cut = true;
    closeQuietly(this);
  }

  /** Whether {@link #cut} ended it. */
  public boolean wasCut() {
    return cut;
  }

  /**
   * A request got no answer because its connection ended: often one that the client kept for later
   * and the server had closed meanwhile.
   */
  public static final class ConnectionLostException extends IOException {

    private static final long serialVersionUID = 1L;

    ConnectionLostException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * The API server no longer knows what happened since a version: everything must be listed anew.
   */
  public static final class ResourceExpiredException extends IOException {

    private static final long serialVersionUID = 1L;

    /** Says what the server said. */
    public ResourceExpiredException(String message) {
      super(message);
    }
  }

  /** No answer came in time: whoever asks again may wait longer. */
  public static final class ResponseTimeoutException extends IOException {

    private static final long serialVersionUID = 1L;

    /** Says for what was waited. */
    public ResponseTimeoutException(String message) {
      super(message);
    }

    /** Says how long was waited, and for what. */
    public ResponseTimeoutException(String message, Throwable cause) {
      super(message, cause);
    }
  }
}
