package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.multikueue.access.WorkerCredentials;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import io.fabric8.kubernetes.client.KubernetesClient;
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

  /** Is told of all connections, on their threads; it returns soon. */
  public interface Listener {

    /** The state of a connection changed. */
    void stateChanged(String cluster);

    /** A Workload of a cluster changed there; {@code after} is null when it is gone. */
    void workloadChanged(
        String cluster, Key key, @Nullable JsonNode before, @Nullable JsonNode after);
  }

  private record Entry(
      RemoteObjects objects, Optional<RemoteConnection> link, Optional<Instant> barredSince) {

    static Entry ofNobody() {
      return new Entry(new RemoteObjects(), Optional.empty(), Optional.empty());
    }

    ConnectionState state() {
      return link.map(RemoteConnection::state)
          .orElseGet(() -> new ConnectionState.Denied(barredSince));
    }
  }

  /** No connections yet. */
  public RemoteConnections(ConnectionContext connectionContext, Listener listener) {
    this.connectionContext = connectionContext;
    this.listener = listener;
  }

  /** Connects to a cluster; nothing happens if it is connected by the same credentials already. */
  public void use(String cluster, WorkerCredentials workerCredentials) {
    RemoteConnection link;
    lock.lock();
    try {
      Entry before = entries.get(cluster);
      if (before != null && before.link().filter(it -> it.uses(workerCredentials)).isPresent()) {
        return;
      }
      Entry present = before == null ? Entry.ofNobody() : before;
      end(before);
      link =
          new RemoteConnection(
              cluster,
              workerCredentials,
              present.objects(),
              present.state().lostSince(),
              connectionContext,
              new OfOne(cluster));
      entries.put(cluster, new Entry(present.objects(), Optional.of(link), Optional.empty()));
      forgotten.remove(cluster);
    } finally {
      lock.unlock();
    }
    link.start();
  }

  /** Ends the connection to a cluster for which there are no good credentials any more. */
  public void deny(String cluster) {
    lock.lock();
    try {
      Entry before = entries.get(cluster);
      if (before != null && before.link().isEmpty()) {
        return;
      }
      Entry present = before == null ? Entry.ofNobody() : before;
      Instant lost = present.state().lostSince().orElseGet(connectionContext.clock()::instant);
      end(before);
      entries.put(cluster, new Entry(present.objects(), Optional.empty(), Optional.of(lost)));
    } finally {
      lock.unlock();
    }
  }

  /** Ends the connection to a cluster that is no worker any more, and forgets it. */
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

  /** Since when a cluster is no worker any more, if it was one while this process ran. */
  public Optional<Instant> forgottenSince(String cluster) {
    return Optional.ofNullable(forgotten.get(cluster));
  }

  private static void end(@Nullable Entry entry) {
    if (entry != null) {
      entry.link().ifPresent(RemoteConnection::close);
    }
  }

  /** How the connection to a cluster stands; empty if nobody asked for one yet. */
  public Optional<ConnectionState> state(String cluster) {
    return Optional.ofNullable(entries.get(cluster)).map(Entry::state);
  }

  /** The client of a cluster, while it is connected. */
  public Optional<KubernetesClient> client(String cluster) {
    return Optional.ofNullable(entries.get(cluster))
        .flatMap(Entry::link)
        .flatMap(RemoteConnection::client);
  }

  /** The Workloads that a cluster has, or had when it was last seen. */
  public Optional<RemoteObjects> workloads(String cluster) {
    return Optional.ofNullable(entries.get(cluster)).map(Entry::objects);
  }

  /** All clusters that were asked for, in order of their names, and whether each is connected. */
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

  private final class OfOne implements RemoteConnection.Listener {

    private final String cluster;

    OfOne(String cluster) {
      this.cluster = cluster;
    }

    @Override
    public void stateChanged() {
      listener.stateChanged(cluster);
    }

    @Override
    public void objectChanged(Key key, @Nullable JsonNode before, @Nullable JsonNode after) {
      listener.workloadChanged(cluster, key, before, after);
    }
  }
}
