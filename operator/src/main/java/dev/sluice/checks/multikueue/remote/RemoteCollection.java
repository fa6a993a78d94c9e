package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.multikueue.remote.RemoteBudget.RemoteLimitException;
import dev.sluice.checks.multikueue.remote.RemoteConnections.FailureText;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.kube.client.ResponseStream.ResponseTimeoutException;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One kind of objects of a connected worker cluster, listed and watched for the lifetime of the
 * connection. What fails is tried again after a pause; a worker that exceeds its limits is cut off.
 */
public final class RemoteCollection implements AutoCloseable {

  private static final Duration PROBE_INTERVAL = Duration.ofSeconds(15);
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(32);

  private final RemoteReflector reflector;
  private final RemoteObjects objects;
  private final ConnectionContext connectionContext;
  private final Consumer<RemoteLimitException> cutOff;
  private final Listener listener;
  private ReconnectBackoff backoff = ReconnectBackoff.none();
  private volatile Optional<String> lastFailure = Optional.empty();
  private volatile boolean listed;
  private volatile boolean closed;

  /** Is told of a collection's events, on the reading thread. */
  public interface Listener extends RemoteObjects.Changes {

    /** All objects are listed for the first time, or reading them failed. */
    void stateChanged();
  }

  RemoteCollection(
      RemoteReflector reflector,
      RemoteObjects objects,
      ConnectionContext connectionContext,
      Consumer<RemoteLimitException> cutOff,
      Listener listener) {
    this.reflector = reflector;
    this.objects = objects;
    this.connectionContext = connectionContext;
    this.cutOff = cutOff;
    this.listener = listener;
  }

  void start() {
    connectionContext.io().execute(this::read);
    connectionContext.delays().repeat(PROBE_INTERVAL, () -> !closed, reflector::probe);
  }

  /** The objects, as last seen. */
  public RemoteObjects objects() {
    return objects;
  }

  /** Whether all objects were listed once. */
  public boolean isListed() {
    return listed;
  }

  /** The message of the last failure to read; empty while reading works. */
  public Optional<String> lastFailure() {
    return lastFailure;
  }

  private void read() {
    try {
      reflector.run(backoff.timeout(), new CollectionEvents());
    } catch (RemoteLimitException e) {
      failed(e);
      if (!closed) {
        cutOff.accept(e);
      }
    } catch (IOException | RuntimeException e) {
      failed(e);
      readLater(e instanceof ResponseTimeoutException);
    } catch (StackOverflowError e) {
      failed(new IOException("an answer is too deep", e));
      readLater(false);
    } catch (Error e) {
      failed(new IOException(e));
      readLater(false);
    } finally {
      if (closed) {
        objects.clear();
      }
    }
  }

  private void failed(Exception failure) {
    lastFailure = Optional.of(FailureText.text(FailureText.message(failure)));
    if (!closed) {
      listener.stateChanged();
    }
  }

  private void readLater(boolean timedOut) {
    backoff = backoff.failed(timedOut);
    Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(backoff.failures() - 1, 5));
    connectionContext
        .delays()
        .after(
            pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE,
            () -> {
              if (!closed) {
                connectionContext.io().execute(this::read);
              }
            });
  }

  /** Stops reading and forgets the objects; the listener may get one more call. */
  @Override
  public void close() {
    closed = true;
    reflector.close();
    objects.clear();
  }

  private final class CollectionEvents implements RemoteSession.Events {

    @Override
    public void established() {
      lastFailure = Optional.empty();
      listed = true;
      listener.stateChanged();
    }

    @Override
    public void progressed() {
      backoff = ReconnectBackoff.none();
    }

    @Override
    public void changed(Key key, @Nullable JsonNode before, @Nullable JsonNode after) {
      if (!closed) {
        listener.changed(key, before, after);
      }
    }
  }

  /**
   * Backoff between attempts to connect to a worker cluster, and the timeout of each attempt.
   *
   * @param failures number of failed attempts in a row
   * @param timeouts number of attempts in a row that ended by a timeout
   */
  record ReconnectBackoff(int failures, int timeouts) {

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(5);
    private static final int LONGEST_PAUSE_AFTER = 7;
    private static final Duration FIRST_TIMEOUT = Duration.ofMinutes(1);
    private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(10);

    /** No failed attempts. */
    static ReconnectBackoff none() {
      return new ReconnectBackoff(0, 0);
    }

    /** The backoff after one more failed attempt. */
    ReconnectBackoff failed(boolean timedOut) {
      return new ReconnectBackoff(failures + 1, timedOut ? timeouts + 1 : 0);
    }

    /** The backoff after the worker was cut off: the longest pause at once. */
    ReconnectBackoff cutOff() {
      return new ReconnectBackoff(Math.max(failures + 1, LONGEST_PAUSE_AFTER), 0);
    }

    /** The pause before the next attempt: 5 s after the first failure, doubling up to 320 s. */
    Duration pause() {
      int exponent = Math.clamp(failures, 1, LONGEST_PAUSE_AFTER) - 1;
      return FIRST_PAUSE.multipliedBy(1L << exponent);
    }

    /** The timeout for establishing the watch: a minute, doubled after each timeout. */
    Duration timeout() {
      Duration grown = FIRST_TIMEOUT.multipliedBy(1L << Math.min(timeouts, 4));
      return grown.compareTo(LONGEST_TIMEOUT) < 0 ? grown : LONGEST_TIMEOUT;
    }
  }
}
