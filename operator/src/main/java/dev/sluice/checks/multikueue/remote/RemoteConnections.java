package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.multikueue.access.WorkerCredentials;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The connections to all worker clusters, by the names of their MultiKueueClusters. */
public final class RemoteConnections implements AutoCloseable {

  private final ConnectionContext connectionContext;
  private final Listener listener;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Entry> entries = new ConcurrentHashMap<>();
  private final Map<String, Instant> forgotten = new ConcurrentHashMap<>();

  /** Listener for events of all connections, called on their threads; it must return quickly. */
  public interface Listener {

    /** The state of a connection changed. */
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
  }

  /** Closes the connection to a cluster that is not a worker any more, and removes the cluster. */
  public void forget(String cluster) {
    lock.lock();
    try {
      Entry entry = entries.remove(cluster);
      end(entry);
      if (entry != null) {
        forgotten.put(cluster, connectionContext.clock().instant());
      }
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
    new ArrayList<>(entries.keySet()).forEach(this::forget);
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
}
