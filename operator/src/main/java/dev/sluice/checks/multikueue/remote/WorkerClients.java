package dev.sluice.checks.multikueue.remote;

import dev.sluice.checks.multikueue.access.ExecPlugin;
import dev.sluice.checks.multikueue.access.Impersonation;
import dev.sluice.checks.multikueue.access.WorkerCredentials;
import dev.sluice.checks.multikueue.access.WorkerEndpoint;
import dev.sluice.kube.certificates.NamedServer;
import dev.sluice.kube.client.ClientConfigs;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.OAuthTokenProvider;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.vertx.VertxHttpClient;
import io.fabric8.kubernetes.client.vertx.VertxHttpClientBuilder;
import io.fabric8.kubernetes.client.vertx.VertxHttpClientFactory;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
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
    WorkerEndpoint endpoint = workerCredentials.endpoint();
    ConfigBuilder builder =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(endpoint.server().toString())
            .withTrustCerts(false)
            .withDisableHostnameVerification(false)
            .withCaCertData(endpoint.authority().orElse(null))
            .withClientCertData(workerCredentials.certificate().orElse(null))
            .withClientKeyData(workerCredentials.key().orElse(null))
            .withOauthToken(workerCredentials.token().orElse(null))
            .withHttpsProxy(endpoint.proxy().map(URI::toString).orElse(null))
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
    KubernetesClientBuilder client = new KubernetesClientBuilder().withConfig(config);
    endpoint.serverName().ifPresent(name -> client.withHttpClientFactory(new NamedServers(name)));
    workerCredentials
        .impersonation()
        .map(Impersonation::headers)
        .ifPresent(
            headers ->
                client.withHttpClientBuilderConsumer(
                    http -> http.addOrReplaceInterceptor("impersonation", new Headers(headers))));
    return client.build();
  }

  /** Adds headers to each request. */
  private record Headers(List<Impersonation.Header> headers) implements Interceptor {

    @Override
    public void before(BasicBuilder request, HttpRequest sent, RequestTags tags) {
      headers.forEach(header -> request.header(header.name(), header.value()));
    }
  }

  /** Makes HTTP clients of a server that has another name than its address. */
  private static final class NamedServers extends VertxHttpClientFactory {

    private final String name;

    NamedServers(String name) {
      this.name = name;
    }

    @Override
    public VertxHttpClientBuilder<VertxHttpClientFactory> newBuilder() {
      return new NamedServerBuilder(this, name);
    }
  }

  /** A builder whose clients ask for a server by its name. */
  private static final class NamedServerBuilder
      extends VertxHttpClientBuilder<VertxHttpClientFactory> {

    private final String name;

    NamedServerBuilder(VertxHttpClientFactory factory, String name) {
      super(factory, null);
      this.name = name;
    }

    @Override
    public VertxHttpClient<VertxHttpClientFactory> build() {
      if (sslContext != null) {
        sslContext = NamedServer.context(sslContext, name);
      }
      return super.build();
    }
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
