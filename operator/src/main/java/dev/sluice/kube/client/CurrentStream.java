package dev.sluice.kube.client;

import dev.sluice.kube.client.ResponseStream.ConnectionLostException;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The answer that a reader reads at the moment. It is cut when nothing was heard for too long, and
 * when the reader is closed. One thread opens and reads; the other methods are for any thread.
 */
public final class CurrentStream implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(CurrentStream.class);
  private static final Duration SHORTEST_PAUSE = Duration.ofMillis(10);

  private final Duration silence;
  private final InstantSource clock;
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile @Nullable ResponseStream stream;

  /** Sends a request. */
  @FunctionalInterface
  public interface Opening {

    /**
     * The answer, of which the head has come.
     *
     * @throws IOException as {@link ResponseStream#open} does
     */
    ResponseStream send() throws IOException;
  }

  /**
   * No answer so far.
   *
   * @param silence an answer of which nothing was heard for longer is cut
   */
  public CurrentStream(Duration silence, InstantSource clock) {
    this.silence = silence;
    this.clock = clock;
  }

  /**
   * Opens the next answer; what was read before is forgotten, also if this fails. A request whose
   * connection is lost is sent once more, because the client may use a pooled connection that the
   * server has closed.
   */
  public ResponseStream open(Opening opening) throws IOException {
    stream = null;
    ResponseStream opened = send(opening);
    stream = opened;
    if (isClosed()) {
      cut();
    }
    return opened;
  }

  private ResponseStream send(Opening opening) throws IOException {
    try {
      return opening.send();
    } catch (ConnectionLostException e) {
      if (isClosed()) {
        throw e;
      }
      return opening.send();
    }
  }

  /** Cuts the answer, if there is one. */
  public void cut() {
    ResponseStream current = stream;
    if (current != null) {
      try {
        current.cut();
      } catch (RuntimeException e) {
        LOG.debug("stream cut=false reason=\"{}\"", e.toString());
      }
    }
  }

  /** Whether the answer was cut; false if the next one could not be opened. */
  public boolean wasCut() {
    ResponseStream current = stream;
    return current != null && current.wasCut();
  }

  /** Cuts each answer that is silent; returns when this is closed. */
  public void watchOver() {
    Duration tenth = silence.dividedBy(10);
    Duration period = tenth.compareTo(SHORTEST_PAUSE) < 0 ? SHORTEST_PAUSE : tenth;
    while (!pause(period)) {
      ResponseStream current = stream;
      if (current != null && current.heard().plus(silence).isBefore(clock.instant())) {
        cut();
      }
    }
  }

  /** Waits for so long, or until this is closed; returns whether it is. */
  public boolean pause(Duration duration) {
    try {
      return closed.await(duration.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return isClosed();
    }
  }

  /** Whether the reader was closed. */
  public boolean isClosed() {
    return closed.getCount() == 0;
  }

  /** Cuts the answer, and each one that is opened from now on. */
  @Override
  public void close() {
    closed.countDown();
    cut();
  }
}
