package dev.sluice.checks.multikueue.sync;

import dev.sluice.checks.multikueue.remote.RemoteConnections.ConnectedWorker;
import dev.sluice.kube.client.RequestLimiter;
import dev.sluice.kube.client.WriteGate;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** Clients of the API servers of connected workers. Thread-safe. */
final class RemoteClients {

  private final Function<String, Optional<ConnectedWorker>> workers;
  private final WriteGate writes;
  private final RequestLimiter limiter;
  private final Map<String, RemoteClient> remoteClients = new ConcurrentHashMap<>();

  /**
   * Clients of workers.
   *
   * @param workers the worker of a cluster, while it is connected
   * @param limiter the rate of requests of all these clients together
   */
  RemoteClients(
      Function<String, Optional<ConnectedWorker>> workers,
      WriteGate writes,
      RequestLimiter limiter) {
    this.workers = workers;
    this.writes = writes;
    this.limiter = limiter;
  }

  /**
   * The client of this cluster, the same object for the lifetime of the connection.
   *
   * @throws IOException when the cluster is not connected
   */
  RemoteClient of(String cluster) throws IOException {
    ConnectedWorker worker =
        workers
            .apply(cluster)
            .orElseThrow(() -> new IOException("cluster \"" + cluster + "\" is not connected"));
    return remoteClients.compute(
        cluster,
        (name, known) ->
            known != null && known.isOf(worker.client())
                ? known
                : new RemoteClient(worker.client(), writes, limiter, worker.cutOff()));
  }
}
