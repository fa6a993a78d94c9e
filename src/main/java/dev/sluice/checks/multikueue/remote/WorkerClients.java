package dev.sluice.checks.multikueue.remote;

import dev.sluice.checks.multikueue.access.ExecPlugin;
import dev.sluice.checks.multikueue.access.WorkerCredentials;
import dev.sluice.kube.client.ClientConfigs;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.Executor;

/** Opens sessions with clients that use only the given credentials. */
public final class WorkerClients implements RemoteSession.Connector {

  private static final String WORKLOADS = "apis/kueue.x-k8s.io/v1beta2/workloads";
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration LOGIN_TIMEOUT = Duration.ofSeconds(30);

  private final String selector;
  private final InstantSource clock;
  private final InstantSource wallClock;
  private final ExecCredentialProvider logins;

  /**
   * Creates a connector for sessions that watch Workloads.
   *
   * @param selector the label that the Workloads have, as {@code key=value}
   * @param clock measures durations
   * @param wallClock decides whether a token has expired
   * @param io reads the output of login programs
   */
  public WorkerClients(String selector, InstantSource clock, InstantSource wallClock, Executor io) {
    this.selector = selector;
    this.clock = clock;
    this.wallClock = wallClock;
    this.logins = new ExecCredentialProvider(LOGIN_TIMEOUT, io);
  }

  @Override
  public RemoteSession open(WorkerCredentials workerCredentials, RemoteObjects objects)
      throws IOException {
    KubernetesClient client = client(workerCredentials);
    RemoteReflector reflector =
        new RemoteReflector(
            client.getHttpClient(),
            client.getMasterUrl().toString(),
            WORKLOADS,
            selector,
            objects,
            clock);
    return new WorkloadSession(client, reflector);
  }

  /** The session that watches Workloads; it owns the client. */
  private record WorkloadSession(KubernetesClient client, RemoteReflector reflector)
      implements RemoteSession {

    @Override
    public void run(Duration timeout, Events events) throws IOException {
      reflector.run(timeout, events);
    }

    @Override
    public void probe() {
      reflector.probe();
    }

    @Override
    public void close() {
      reflector.close();
      client.close();
    }
  }

  /**
   * The client takes no settings from the environment of the process and does not retry by itself.
   */
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
            .withConnectionTimeout((int) CONNECT_TIMEOUT.toMillis())
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
    Config config = ClientConfigs.withReadableKey(builder.build());
    return new KubernetesClientBuilder().withConfig(config).build();
  }
}
