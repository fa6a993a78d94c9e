package dev.sluice.kube.leader;

import dev.sluice.kube.leader.LeaseElector.LeaseStore;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.RequestConfigBuilder;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A lease in the API server. Requests are short and not repeated: the elector repeats them. */
public final class KubernetesLeaseStore implements LeaseStore {

  private static final Logger LOG = LoggerFactory.getLogger(KubernetesLeaseStore.class);

  private final KubernetesClient client;
  private final String namespace;
  private final String name;

  /**
   * The lease of the given name.
   *
   * @param timeout how long one request may take
   */
  public KubernetesLeaseStore(
      KubernetesClient client, String namespace, String name, Duration timeout) {
    this.client =
        client
            .newClient(
                new RequestConfigBuilder()
                    .withRequestTimeout(Math.toIntExact(timeout.toMillis()))
                    .withRequestRetryBackoffLimit(0)
                    .build())
            .adapt(KubernetesClient.class);
    this.namespace = namespace;
    this.name = name;
  }

  @Override
  public Optional<Lease> read() {
    return Optional.ofNullable(client.leases().inNamespace(namespace).withName(name).get());
  }

  @Override
  public Optional<Lease> write(Lease lease) {
    lease.getMetadata().setNamespace(namespace);
    lease.getMetadata().setName(name);
    Resource<Lease> resource = client.resource(lease);
    try {
      return Optional.of(
          lease.getMetadata().getResourceVersion() == null ? resource.create() : resource.update());
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_CONFLICT
          || e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Without it the lease is read a little later, so that its end is no fault. */
  @Override
  public AutoCloseable watch(Consumer<Lease> changed) {
    return client
        .leases()
        .inNamespace(namespace)
        .withName(name)
        .watch(
            new Watcher<Lease>() {
              @Override
              public void eventReceived(Action action, Lease lease) {
                if (action == Action.ADDED || action == Action.MODIFIED) {
                  changed.accept(lease);
                }
              }

              @Override
              public void onClose(WatcherException cause) {
                LOG.debug("lease watched=false reason=\"{}\"", cause.getMessage());
              }
            });
  }
}
