package dev.sluice.checks.multikueue.link;

import dev.sluice.checks.multikueue.access.Credentials;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.time.InstantSource;

/** Sessions by clients that know nothing but the credentials they are given. */
public final class WorkerClients implements Session.Connector {

  private static final String WORKLOADS = "apis/kueue.x-k8s.io/v1beta2/workloads";
  private static final Duration CONNECT = Duration.ofSeconds(10);

  private final String selector;
  private final InstantSource clock;

  /**
   * Sessions that watch Workloads.
   *
   * @param selector labels of the Workloads that count
   */
  public WorkerClients(String selector, InstantSource clock) {
    this.selector = selector;
    this.clock = clock;
  }

  @Override
  public Session open(Credentials credentials, RemoteObjects objects) {
    KubernetesClient client = client(credentials);
    return new RemoteWatch(client, WORKLOADS, selector, objects, clock);
  }

  /** Nothing comes from the environment of this process, and nothing is tried behind our back. */
  private static KubernetesClient client(Credentials credentials) {
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(credentials.server().toString())
            .withTrustCerts(false)
            .withDisableHostnameVerification(false)
            .withCaCertData(credentials.authority().orElse(null))
            .withClientCertData(credentials.certificate().orElse(null))
            .withClientKeyData(credentials.key().orElse(null))
            .withOauthToken(credentials.token().orElse(null))
            .withConnectionTimeout((int) CONNECT.toMillis())
            .withRequestRetryBackoffLimit(0)
            .build();
    return new KubernetesClientBuilder().withConfig(config).build();
  }
}
