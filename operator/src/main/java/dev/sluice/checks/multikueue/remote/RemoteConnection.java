package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.multikueue.access.WorkerCredentials;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.kube.client.ResponseTimeoutException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection to one worker cluster with one set of credentials. Reconnects with growing pauses
 * until it is closed.
 */
final class RemoteConnection implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(RemoteConnection.class);
  private static final Duration PROBE_INTERVAL = Duration.ofSeconds(15);

  private final String cluster;
  private final WorkerCredentials workerCredentials;
  private final RemoteObjects objects;
  private final ConnectionContext connectionContext;
  private final Listener listener;
  private final ReentrantLock lock = new ReentrantLock();
  private ConnectionState state;
  private ReconnectBackoff reconnectBackoff = ReconnectBackoff.none();
  private Optional<RemoteSession> remoteSession = Optional.empty();
  private Optional<WorkerReader> workerReader = Optional.empty();
  private Optional<RemoteLimitException> excess = Optional.empty();
  private boolean closed;

  /** Listener for events of one connection. */
  interface Listener {

    /** The state of the connection changed. */
    void stateChanged();

    /** The cluster was cut off, because it sent more than is read from one. */
    void cutOff();

    /** An object of the cluster changed. */
    void objectChanged(Key key, @Nullable JsonNode before, @Nullable JsonNode after);
  }

  /**
   * Creates a connection without starting it.
   *
   * @param lostSince since when the cluster is lost, carried over from a connection with earlier
   *     credentials
   */
  RemoteConnection(
      String cluster,
      WorkerCredentials workerCredentials,
      RemoteObjects objects,
      Optional<Instant> lostSince,
      ConnectionContext connectionContext,
      Listener listener) {
    this.cluster = cluster;
    this.workerCredentials = workerCredentials;
    this.objects = objects;
    this.connectionContext = connectionContext;
    this.listener = listener;
    this.state = new ConnectionState.Connecting(lostSince);
  }

  void start() {
    connectionContext.io().execute(this::attempt);
  }

  boolean uses(WorkerCredentials others) {
    return workerCredentials.equals(others);
  }

  ConnectionState state() {
    lock.lock();
    try {
      return state;
    } finally {
      lock.unlock();
    }
  }

  /** The connected worker, while the cluster is connected. */
  Optional<ConnectedWorker> worker() {
    lock.lock();
    try {
      return state instanceof ConnectionState.Connected
          ? remoteSession.map(this::worker)
          : Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  /** Reads other collections of the cluster, while it is connected. */
  Optional<WorkerReader> reader() {
    lock.lock();
    try {
      return state instanceof ConnectionState.Connected ? workerReader : Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  private ConnectedWorker worker(RemoteSession session) {
    return new ConnectedWorker(
        session.client(),
        reason ->
            connectionContext
                .io()
                .execute(() -> cutOff(session, new RemoteLimitException(reason))));
  }

  /** Ends a session because the cluster sends more than is read from one. */
  private void cutOff(RemoteSession session, RemoteLimitException limit) {
    boolean current;
    lock.lock();
    try {
      current = remoteSession.filter(it -> it == session).isPresent();
      if (current) {
        excess = Optional.of(limit);
      }
    } finally {
      lock.unlock();
    }
    if (current) {
      session.close();
    }
  }

  private void attempt() {
    RemoteSession session;
    try {
      session = connectionContext.connector().open(workerCredentials, objects);
    } catch (IOException e) {
      failed(e);
      return;
    } catch (RuntimeException e) {
      transition(new ConnectionState.Unbuildable(report(e), lostSince()));
      LOG.warn("cluster={} connected=false cause=\"{}\"", cluster, report(e));
      return;
    }
    if (!began(session)) {
      session.close();
      return;
    }
    try (session) {
      connectionContext.delays().after(PROBE_INTERVAL, () -> probe(session));
      session.run(timeout(), new SessionEvents(session));
      Optional<RemoteLimitException> limit = excess();
      if (limit.isPresent()) {
        failed(limit.get());
      }
    } catch (IOException | RuntimeException e) {
      failed(excess().<Exception>map(it -> it).orElse(e));
    } catch (StackOverflowError e) {
      failed(new IOException("an answer is too deep", e));
    }
  }

  private Optional<RemoteLimitException> excess() {
    lock.lock();
    try {
      return excess;
    } finally {
      lock.unlock();
    }
  }

  private boolean began(RemoteSession session) {
    lock.lock();
    try {
      remoteSession = Optional.of(session);
      excess = Optional.empty();
      workerReader = Optional.empty();
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  private Duration timeout() {
    lock.lock();
    try {
      return reconnectBackoff.timeout();
    } finally {
      lock.unlock();
    }
  }

  private Optional<Instant> lostSince() {
    return Optional.of(state().lostSince().orElseGet(connectionContext.clock()::instant));
  }

  private void established(RemoteSession session) {
    lock.lock();
    try {
      reconnectBackoff = ReconnectBackoff.none();
      workerReader = Optional.of(reader(session));
    } finally {
      lock.unlock();
    }
    if (transition(new ConnectionState.Connected(connectionContext.clock().instant()))) {
      LOG.info("cluster={} connected=true server={}", cluster, workerCredentials.server());
    }
  }

  private WorkerReader reader(RemoteSession session) {
    return new WorkerReader(
        cluster, session, objects.budget(), connectionContext, limit -> cutOff(session, limit));
  }

  private void failed(Exception failure) {
    boolean cutOff = failure instanceof RemoteLimitException;
    if (cutOff) {
      // What it sent fills its share; an honest list would not fit beside it.
      objects.clear();
    }
    Duration pause;
    ConnectionState.Failing failing;
    Optional<Instant> lostSince = lostSince();
    lock.lock();
    try {
      remoteSession = Optional.empty();
      workerReader = Optional.empty();
      reconnectBackoff =
          cutOff
              ? reconnectBackoff.cutOff()
              : reconnectBackoff.failed(failure instanceof ResponseTimeoutException);
      pause = reconnectBackoff.pause();
      Instant next = connectionContext.clock().instant().plus(pause);
      failing =
          new ConnectionState.Failing(
              reconnectBackoff.failures(),
              next,
              cutOff ? "cut off: " + report(failure) : report(failure),
              lostSince);
    } finally {
      lock.unlock();
    }
    if (transition(failing)) {
      LOG.warn(
          "cluster={} connected=false attempts={} next={}s cause=\"{}\"",
          cluster,
          failing.attempts(),
          pause.toSeconds(),
          failing.cause());
      if (cutOff) {
        listener.cutOff();
      }
      connectionContext
          .delays()
          .after(pause, () -> connectionContext.io().execute(this::attemptIfOpen));
    }
  }

  private void attemptIfOpen() {
    if (!isClosed()) {
      attempt();
    }
  }

  /** Sets a new state; false if the connection was closed meanwhile. */
  private boolean transition(ConnectionState next) {
    lock.lock();
    try {
      if (closed) {
        return false;
      }
      state = next;
    } finally {
      lock.unlock();
    }
    listener.stateChanged();
    return true;
  }

  /** The text of a failure, without secrets. */
  private String report(Exception failure) {
    return FailureText.text(workerCredentials.redact(FailureText.message(failure)));
  }

  private void probe(RemoteSession session) {
    if (!isClosed() && session().filter(current -> current == session).isPresent()) {
      session.probe();
      connectionContext.delays().after(PROBE_INTERVAL, () -> probe(session));
    }
  }

  private Optional<RemoteSession> session() {
    lock.lock();
    try {
      return remoteSession;
    } finally {
      lock.unlock();
    }
  }

  private boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /** Closes the connection for good; the listener is not called afterwards. */
  @Override
  public void close() {
    Optional<RemoteSession> last;
    lock.lock();
    try {
      closed = true;
      last = remoteSession;
      remoteSession = Optional.empty();
    } finally {
      lock.unlock();
    }
    last.ifPresent(RemoteSession::close);
  }

  private final class SessionEvents implements RemoteSession.Events {

    private final RemoteSession session;

    SessionEvents(RemoteSession session) {
      this.session = session;
    }

    @Override
    public void established() {
      RemoteConnection.this.established(session);
    }

    @Override
    public void changed(Key key, @Nullable JsonNode before, @Nullable JsonNode after) {
      listener.objectChanged(key, before, after);
    }
  }
}
