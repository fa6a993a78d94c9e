package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.checks.multikueue.access.WorkerCredentials;
import dev.sluice.checks.multikueue.remote.RemoteBudget.RemoteLimitException;
import dev.sluice.checks.multikueue.remote.RemoteCollection.ReconnectBackoff;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.kube.client.ResponseStream.ResponseTimeoutException;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The connections to all worker clusters, by the names of their MultiKueueClusters. */
public final class RemoteConnections implements AutoCloseable {

  private final ConnectionContext connectionContext;
  private final Listener listener;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Entry> entries = new ConcurrentHashMap<>();
  private final Map<String, Instant> forgotten = new ConcurrentHashMap<>();

  /** Listener for events of all connections, called on their threads; it must return quickly. */
  public interface Listener {

    /** The state of a connection changed, or it was taken away. */
    void stateChanged(String cluster);

    /** A cluster was cut off, because it sent more than is read from one. */
    default void cutOff(String cluster) {}

    /** An object of a cluster can't be read. */
    default void unreadable(String cluster) {}

    /** The value by which Workloads of a cluster are found; empty for none. */
    default String index(JsonNode workload) {
      return "";
    }

    /**
     * A Workload of a cluster changed there; {@code after} is null when the Workload was deleted.
     */
    void workloadChanged(
        String cluster, Key key, @Nullable JsonNode before, @Nullable JsonNode after);
  }

  private record Entry(
      RemoteObjects objects, Optional<RemoteConnection> connection, Optional<Instant> deniedSince) {

    ConnectionState state() {
      return connection
          .map(RemoteConnection::state)
          .orElseGet(() -> new ConnectionState.Denied(deniedSince));
    }
  }

  /** Creates an empty set of connections. */
  public RemoteConnections(ConnectionContext connectionContext, Listener listener) {
    this.connectionContext = connectionContext;
    this.listener = listener;
  }

  /** Connects to a cluster; does nothing if a connection with equal credentials exists. */
  public void use(String cluster, WorkerCredentials workerCredentials) {
    RemoteConnection connection;
    lock.lock();
    try {
      Entry before = entries.get(cluster);
      if (before != null
          && before.connection().filter(it -> it.uses(workerCredentials)).isPresent()) {
        return;
      }
      Entry present = before == null ? emptyEntry(cluster) : before;
      end(before);
      connection =
          new RemoteConnection(
              cluster,
              workerCredentials,
              present.objects(),
              present.state().lostSince(),
              connectionContext,
              new ClusterListener(cluster));
      entries.put(cluster, new Entry(present.objects(), Optional.of(connection), Optional.empty()));
      forgotten.remove(cluster);
    } finally {
      lock.unlock();
    }
    connection.start();
  }

  private Entry emptyEntry(String cluster) {
    RemoteBudget budget =
        new RemoteBudget(
            cluster,
            connectionContext.limits(),
            System::nanoTime,
            () -> listener.unreadable(cluster));
    return new Entry(
        new RemoteObjects(budget, listener::index), Optional.empty(), Optional.empty());
  }

  /** Closes the connection to a cluster that has no valid credentials any more. */
  public void deny(String cluster) {
    lock.lock();
    try {
      Entry before = entries.get(cluster);
      if (before != null && before.connection().isEmpty()) {
        return;
      }
      Entry present = before == null ? emptyEntry(cluster) : before;
      Instant lost = present.state().lostSince().orElseGet(connectionContext.clock()::instant);
      end(before);
      entries.put(cluster, new Entry(present.objects(), Optional.empty(), Optional.of(lost)));
    } finally {
      lock.unlock();
    }
    listener.stateChanged(cluster);
  }

  /** Closes the connection to a cluster that is not a worker any more, and removes the cluster. */
  public void forget(String cluster) {
    if (remove(cluster)) {
      listener.stateChanged(cluster);
    }
  }

  /** Whether there was one to remove. */
  private boolean remove(String cluster) {
    lock.lock();
    try {
      Entry entry = entries.remove(cluster);
      end(entry);
      if (entry != null) {
        forgotten.put(cluster, connectionContext.clock().instant());
      }
      return entry != null;
    } finally {
      lock.unlock();
    }
  }

  /** Since when a cluster is not a worker any more, if it was a worker while this process ran. */
  public Optional<Instant> forgottenSince(String cluster) {
    return Optional.ofNullable(forgotten.get(cluster));
  }

  private static void end(@Nullable Entry entry) {
    if (entry != null) {
      entry.connection().ifPresent(RemoteConnection::close);
    }
  }

  /** The state of the connection to a cluster; empty if no connection was requested. */
  public Optional<ConnectionState> state(String cluster) {
    return Optional.ofNullable(entries.get(cluster)).map(Entry::state);
  }

  /** The worker behind a cluster's name, while it is connected. */
  public Optional<ConnectedWorker> worker(String cluster) {
    return Optional.ofNullable(entries.get(cluster))
        .flatMap(Entry::connection)
        .flatMap(RemoteConnection::worker);
  }

  /** Reads other collections of a cluster, while it is connected. */
  public Optional<WorkerReader> reader(String cluster) {
    return Optional.ofNullable(entries.get(cluster))
        .flatMap(Entry::connection)
        .flatMap(RemoteConnection::reader);
  }

  /** The Workloads of a cluster, as last seen. */
  public Optional<RemoteObjects> workloads(String cluster) {
    return Optional.ofNullable(entries.get(cluster)).map(Entry::objects);
  }

  /** All registered clusters, ordered by name, and whether each is connected. */
  public Map<String, Boolean> connected() {
    Map<String, Boolean> result = new TreeMap<>();
    entries.forEach(
        (cluster, entry) ->
            result.put(cluster, entry.state() instanceof ConnectionState.Connected));
    return result;
  }

  @Override
  public void close() {
    new ArrayList<>(entries.keySet()).forEach(this::remove);
  }

  private final class ClusterListener implements RemoteConnection.Listener {

    private final String cluster;

    ClusterListener(String cluster) {
      this.cluster = cluster;
    }

    @Override
    public void stateChanged() {
      listener.stateChanged(cluster);
    }

    @Override
    public void cutOff() {
      listener.cutOff(cluster);
    }

    @Override
    public void objectChanged(Key key, @Nullable JsonNode before, @Nullable JsonNode after) {
      listener.workloadChanged(cluster, key, before, after);
    }
  }

  /**
   * The connection to one worker cluster with one set of credentials. Reconnects with growing
   * pauses until it is closed.
   */
  private static final class RemoteConnection implements AutoCloseable {

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
        unbuildable(e);
        return;
      } catch (Error e) {
        unbuildable(new IOException(e));
        return;
      }
      if (!began(session)) {
        session.close();
        return;
      }
      try (session) {
        connectionContext.delays().repeat(PROBE_INTERVAL, () -> isCurrent(session), session::probe);
        session.run(timeout(), new SessionEvents(session));
        Optional<RemoteLimitException> limit = excess();
        if (limit.isPresent()) {
          failed(limit.get());
        }
      } catch (IOException | RuntimeException e) {
        failed(excess().<Exception>map(it -> it).orElse(e));
      } catch (StackOverflowError e) {
        failed(new IOException("an answer is too deep", e));
      } catch (Error e) {
        failed(new IOException(e)); // whoever isn't connected any more must not seem to be
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
        workerReader = Optional.of(reader(session));
      } finally {
        lock.unlock();
      }
      if (transition(new ConnectionState.Connected(connectionContext.clock().instant()))) {
        LOG.info("cluster={} connected=true server={}", cluster, workerCredentials.server());
      }
    }

    private void progressed() {
      lock.lock();
      try {
        reconnectBackoff = ReconnectBackoff.none();
      } finally {
        lock.unlock();
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
        attemptAfter(pause);
      }
    }

    /** Mostly the credentials are to blame; but threads or files may have run out for a while. */
    private void unbuildable(Exception failure) {
      String cause = report(failure);
      if (transition(new ConnectionState.Unbuildable(cause, lostSince()))) {
        LOG.warn("cluster={} connected=false cause=\"{}\"", cluster, cause);
        attemptAfter(ReconnectBackoff.none().cutOff().pause());
      }
    }

    private void attemptAfter(Duration pause) {
      connectionContext
          .delays()
          .after(pause, () -> connectionContext.io().execute(this::attemptIfOpen));
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

    private boolean isCurrent(RemoteSession session) {
      lock.lock();
      try {
        return !closed && remoteSession.filter(it -> it == session).isPresent();
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
      public void progressed() {
        RemoteConnection.this.progressed();
      }

      @Override
      public void changed(Key key, @Nullable JsonNode before, @Nullable JsonNode after) {
        listener.objectChanged(key, before, after);
      }
    }
  }

  /**
   * One connection to a worker cluster, while it lasts.
   *
   * @param client reads and writes in the cluster
   * @param cutOff ends this connection, and no later one, on another thread, for the reason given:
   *     the cluster sends more than is read from one
   */
  public record ConnectedWorker(KubernetesClient client, Consumer<String> cutOff) {}

  /** State of the connection to a worker cluster. */
  public sealed interface ConnectionState {

    /** Since when the cluster is lost, if it was connected before; empty while it is connected. */
    Optional<Instant> lostSince();

    /** The first attempt is in progress. */
    record Connecting(Optional<Instant> lostSince) implements ConnectionState {}

    /** The watch of Workloads is established. */
    record Connected(Instant since) implements ConnectionState {
      @Override
      public Optional<Instant> lostSince() {
        return Optional.empty();
      }
    }

    /**
     * The last attempt failed, or the watch broke.
     *
     * @param attempts number of failed attempts in a row
     * @param next time of the next attempt
     * @param cause the failure, without secrets
     */
    record Failing(int attempts, Instant next, String cause, Optional<Instant> lostSince)
        implements ConnectionState {}

    /**
     * No client can be built from the credentials; that is tried again after the longest pause.
     *
     * @param cause the problem, without secrets
     */
    record Unbuildable(String cause, Optional<Instant> lostSince) implements ConnectionState {}

    /** There are no valid credentials; the connection waits for credentials. */
    record Denied(Optional<Instant> lostSince) implements ConnectionState {}
  }

  /** Formats a failure for users: one line of bounded length. */
  static final class FailureText {

    private static final int MAX_LENGTH = 300;

    private FailureText() {}

    /** The message of a failure, unabridged. */
    static String message(Exception failure) {
      return failure.getMessage() == null ? failure.toString() : failure.getMessage();
    }

    /** A shortened message; for a Status that a server returned, only its message field. */
    static String text(String message) {
      String line = withoutStatus(message).replaceAll("[\\s\\p{Cntrl}]+", " ").strip();
      return line.length() <= MAX_LENGTH ? line : line.substring(0, MAX_LENGTH) + "…";
    }

    private static String withoutStatus(String message) {
      int begin = message.indexOf('{');
      if (begin < 0) {
        return message;
      }
      try {
        String statusMessage =
            JsonMappers.JSON.readTree(message.substring(begin)).path("message").asText();
        return statusMessage.isEmpty() ? message : message.substring(0, begin) + statusMessage;
      } catch (JsonProcessingException e) {
        return message;
      }
    }
  }
}
