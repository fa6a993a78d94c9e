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
  private final CutOff cutOff;
  private final Map<String, RemoteClient> remoteClients = new ConcurrentHashMap<>();

  /** Ends connections to workers that send too much. */
  @FunctionalInterface
  interface CutOff {

    /** Cuts a worker off, if its connection still is that of this client; must not block. */
    void cutOff(String cluster, KubernetesClient client, String reason);
  }

  RemoteClients(
      Function<String, Optional<KubernetesClient>> clients, WriteGate writes, CutOff cutOff) {
    this.clients = clients;
    this.writes = writes;
    this.cutOff = cutOff;
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
            known != null && known.isOf(client)
                ? known
                : new RemoteClient(
                    client, writes, reason -> cutOff.cutOff(cluster, client, reason)));
  }
}
