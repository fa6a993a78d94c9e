package dev.sluice.checks.multikueue.remote;

import dev.sluice.checks.multikueue.access.ExecPlugin;
import dev.sluice.checks.multikueue.access.WorkerCredentials;
import dev.sluice.kube.client.ClientConfigs;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.OAuthTokenProvider;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens sessions with clients that use only the given credentials. */
public final class WorkerClients implements RemoteSession.Connector {

  private static final String WORKLOADS = "apis/kueue.x-k8s.io/v1beta2/workloads";
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration LOGIN_TIMEOUT = Duration.ofSeconds(30);

  private final String selector;
  private final InstantSource clock;
  private final InstantSource wallClock;
  private final ExecCredentialProvider provider;

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
    this.provider = new ExecCredentialProvider(LOGIN_TIMEOUT, io);
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
      ExecCredentialProvider.Login login = provider.run(plugin);
      login.certificate().ifPresent(builder::withClientCertData);
      login.key().ifPresent(builder::withClientKeyData);
      if (login.token().isPresent()) {
        builder.withOauthTokenProvider(new ExecCredentialToken(plugin, provider, login, wallClock));
      }
    }
    Config config = ClientConfigs.withReadableKey(builder.build());
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  /**
   * The token of one connection; runs the login program again shortly before the token expires.
   * Thread-safe.
   */
  static final class ExecCredentialToken implements OAuthTokenProvider {

    private static final Logger LOG = LoggerFactory.getLogger(ExecCredentialToken.class);
    private static final Duration RENEW_BEFORE_EXPIRY = Duration.ofSeconds(60);
    private static final Duration RETRY_PAUSE = Duration.ofSeconds(10);

    private final ExecPlugin plugin;
    private final ExecCredentialProvider provider;
    private final InstantSource wallClock;
    private final ReentrantLock lock = new ReentrantLock();
    private ExecCredentialProvider.Login login;
    private Instant lastAttempt;

    /** Starts with a token that the program just returned. */
    ExecCredentialToken(
        ExecPlugin plugin,
        ExecCredentialProvider provider,
        ExecCredentialProvider.Login first,
        InstantSource wallClock) {
      this.plugin = plugin;
      this.provider = provider;
      this.login = first;
      this.wallClock = wallClock;
      this.lastAttempt = wallClock.instant();
    }

    @Override
    public String getToken() {
      lock.lock();
      try {
        Instant now = wallClock.instant();
        boolean old =
            login.expires().filter(end -> now.isAfter(end.minus(RENEW_BEFORE_EXPIRY))).isPresent();
        if (old && now.isAfter(lastAttempt.plus(RETRY_PAUSE))) {
          lastAttempt = now;
          renew();
        }
        return login.token().orElse("");
      } finally {
        lock.unlock();
      }
    }

    /**
     * After a failed renewal the old token stays in use; the worker rejects it once it is invalid.
     */
    private void renew() {
      try {
        login = provider.run(plugin);
      } catch (IOException e) {
        LOG.warn("login=failed reason=\"{}\"", e.getMessage());
      }
    }
  }
}
