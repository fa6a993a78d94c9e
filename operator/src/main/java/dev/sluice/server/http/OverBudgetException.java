package dev.sluice.server.http;

import java.time.Duration;
import java.util.Map;

/** Somebody asks for more than is given to one at a time; the answer is status 429. */
public final class OverBudgetException extends RuntimeException {

  private static final long serialVersionUID = 1L;
  private static final int TOO_MANY_REQUESTS = 429;

  private final Duration retryAfter;

  /**
   * With what there is too much of.
   *
   * @param retryAfter when it is worth to ask again
   */
  public OverBudgetException(String message, Duration retryAfter) {
    super(message, null, false, false);
    this.retryAfter = retryAfter;
  }

  /** The answer to the request. */
  public Response response() {
    long seconds = Math.max(1, retryAfter.plusMillis(999).toSeconds());
    return Response.text(TOO_MANY_REQUESTS, String.valueOf(getMessage()))
        .with(Map.of("Retry-After", String.valueOf(seconds)));
  }
}
