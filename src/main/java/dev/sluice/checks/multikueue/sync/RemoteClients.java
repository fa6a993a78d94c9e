package dev.sluice.checks.multikueue.sync;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** The API servers of workers that are connected. From any thread. */
final class RemoteClients {

  private final Function<String, Optional<KubernetesClient>> clients;
  private final Map<String, RemoteClient> remoteClients = new ConcurrentHashMap<>();

  RemoteClients(Function<String, Optional<KubernetesClient>> clients) {
    this.clients = clients;
  }

  /**
   * The one of this cluster: the same as long as the connection is.
   *
   * @throws IOException when it isn't connected
   */
  RemoteClient of(String cluster) throws IOException {
    KubernetesClient client =
        clients
            .apply(cluster)
            .orElseThrow(() -> new IOException("cluster \"" + cluster + "\" is not connected"));
    return remoteClients.compute(
        cluster,
        (name, known) -> known != null && known.isOf(client) ? known : new RemoteClient(client));
  }
}
