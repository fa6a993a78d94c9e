package dev.sluice.checks.multikueue.sync;

import dev.sluice.kube.client.WriteGate;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** Clients of the API servers of connected workers. Thread-safe. */
final class RemoteClients {

  private final Function<String, Optional<KubernetesClient>> clients;
  private final WriteGate writes;
  private final Map<String, RemoteClient> remoteClients = new ConcurrentHashMap<>();

  RemoteClients(Function<String, Optional<KubernetesClient>> clients, WriteGate writes) {
    this.clients = clients;
    this.writes = writes;
  }

  /**
   * The client of this cluster, the same object for the lifetime of the connection.
   *
   * @throws IOException when the cluster is not connected
   */
  RemoteClient of(String cluster) throws IOException {
    KubernetesClient client =
        clients
            .apply(cluster)
            .orElseThrow(() -> new IOException("cluster \"" + cluster + "\" is not connected"));
    return remoteClients.compute(
        cluster,
        (name, known) ->
            known != null && known.isOf(client) ? known : new RemoteClient(client, writes));
  }
}
