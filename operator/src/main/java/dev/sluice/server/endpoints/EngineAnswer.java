package dev.sluice.server.endpoints;

import dev.sluice.server.http.OverBudgetException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits for answers of the engine on behalf of a client. */
public final class EngineAnswer {

  /** There is no answer now; the message says why, and is for the client. */
  public static final class MissingException extends Exception {
    private static final long serialVersionUID = 1L;

    MissingException(String message) {
      super(message);
    }

    /** The message. */
    public String text() {
      return String.valueOf(getMessage());
    }
  }

  private EngineAnswer() {}

  /**
   * The answer. One that comes too late is cancelled.
   *
   * @param question what was asked, for the report of a bug
   * @throws MissingException if it takes longer than {@code limit}, or the operator stops
   * @throws OverBudgetException if too much is asked by all clients together
   * @throws IllegalStateException if the engine failed to answer, which is a bug
   */
  public static <T> T await(CompletableFuture<T> asked, Duration limit, String question)
      throws MissingException {
    try {
      return asked.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      asked.cancel(false);
      throw new MissingException("the engine didn't answer within " + limit.toSeconds() + "s");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MissingException("the operator is stopping");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof OverBudgetException tooMuch) {
        throw tooMuch;
      }
      throw new IllegalStateException(question, e);
    }
  }
}
