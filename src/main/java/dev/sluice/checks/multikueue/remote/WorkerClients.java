package dev.sluice.checks.multikueue.remote;

import dev.sluice.checks.multikueue.access.ExecPlugin;
import dev.sluice.checks.multikueue.access.WorkerCredentials;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.Executor;

/** Sessions by clients that know nothing but the credentials they are given. */
public final class WorkerClients implements RemoteSession.Connector {

  private static final String WORKLOADS = "apis/kueue.x-k8s.io/v1beta2/workloads";
  private static final Duration CONNECT = Duration.ofSeconds(10);
  private static final Duration LOGIN = Duration.ofSeconds(30);

  private final String selector;
  private final InstantSource clock;
  private final InstantSource wallClock;
  private final ExecCredentialProvider logins;

  /**
   * Sessions that watch Workloads.
   *
   * @param selector labels of the Workloads that count
   * @param clock measures durations
   * @param wallClock tells whether a token has expired
   * @param io waits for what programs say that log in
   */
  public WorkerClients(String selector, InstantSource clock, InstantSource wallClock, Executor io) {
    this.selector = selector;
    this.clock = clock;
    this.wallClock = wallClock;
    this.logins = new ExecCredentialProvider(LOGIN, io);
  }

  @Override
  public RemoteSession open(WorkerCredentials workerCredentials, RemoteObjects objects)
      throws IOException {
    KubernetesClient client = client(workerCredentials);
    return new RemoteReflector(client, WORKLOADS, selector, objects, clock);
  }

  /** Nothing comes from the environment of this process, and nothing is tried behind our back. */
  private KubernetesClient client(WorkerCredentials workerCredentials) throws IOException {
    ConfigBuilder builder =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(workerCredentials.server().toString())
            .withTrustCerts(false)
            .withDisableHostnameVerification(false)
            .withCaCertData(workerCredentials.authority().orElse(null))
            .withClientCertData(workerCredentials.certificate().orElse(null))
            .withClientKeyData(workerCredentials.key().orElse(null))
            .withOauthToken(workerCredentials.token().orElse(null))
            .withConnectionTimeout((int) CONNECT.toMillis())
            .withRequestRetryBackoffLimit(0);
    if (workerCredentials.plugin().isPresent()) {
      ExecPlugin plugin = workerCredentials.plugin().get();
      ExecCredentialProvider.Login login = logins.run(plugin);
      login.certificate().ifPresent(builder::withClientCertData);
      login.key().ifPresent(builder::withClientKeyData);
      if (login.token().isPresent()) {
        builder.withOauthTokenProvider(new ExecCredentialToken(plugin, logins, login, wallClock));
      }
    }
    Config config = builder.build();
    return new KubernetesClientBuilder().withConfig(config).build();
  }
}
