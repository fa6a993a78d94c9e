package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.checks.multikueue.access.WorkerCredentials;
import dev.sluice.checks.multikueue.access.WorkerCredentials.ExecPlugin;
import dev.sluice.checks.multikueue.access.WorkerCredentials.Impersonation;
import dev.sluice.checks.multikueue.access.WorkerCredentials.WorkerEndpoint;
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
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
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
   */
  public WorkerClients(String selector, InstantSource clock, InstantSource wallClock) {
    this.selector = selector;
    this.clock = clock;
    this.wallClock = wallClock;
    this.provider = new ExecCredentialProvider(LOGIN_TIMEOUT);
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

  /**
   * Runs login programs for worker clusters, as {@code client.authentication.k8s.io} specifies.
   * Limits the number of concurrent programs and the time of each. The standard error of a program
   * goes to the operator's standard error.
   */
  static final class ExecCredentialProvider {

    private static final int MAX_CONCURRENT = 4;
    private static final int MAX_OUTPUT_BYTES = 1 << 20;
    private static final Duration LOOK = Duration.ofMillis(20);

    private final Duration timeout;
    private final Semaphore permits = new Semaphore(MAX_CONCURRENT);

    /**
     * Creates a provider.
     *
     * @param timeout the longest time that a program may run
     */
    ExecCredentialProvider(Duration timeout) {
      this.timeout = timeout;
    }

    /**
     * Result of a login program.
     *
     * @param token a bearer token
     * @param certificate base64 of a client certificate in PEM
     * @param key base64 of its private key
     * @param expires expiry time, if the program returns one
     */
    record Login(
        Optional<String> token,
        Optional<String> certificate,
        Optional<String> key,
        Optional<Instant> expires) {

      /** Contains no secrets. */
      @Override
      public String toString() {
        return "Login[expires=" + expires + "]";
      }
    }

    /**
     * Runs the program and waits for its end.
     *
     * @throws IOException when the program fails, exceeds the timeout, or returns malformed output
     */
    Login run(ExecPlugin plugin) throws IOException {
      try {
        permits.acquire();
        try {
          return login(plugin, output(plugin));
        } finally {
          permits.release();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted");
      }
    }

    private byte[] output(ExecPlugin plugin) throws IOException, InterruptedException {
      List<String> line = new ArrayList<>();
      line.add(plugin.command());
      line.addAll(plugin.args());
      ProcessBuilder builder =
          new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.INHERIT);
      builder.environment().putAll(plugin.env());
      builder.environment().put("KUBERNETES_EXEC_INFO", plugin.info().toString());
      Process process = start(builder, plugin);
      try {
        process.getOutputStream().close();
        byte[] output =
            read(process)
                .orElseThrow(() -> failed(plugin, "took longer than " + timeout.toSeconds() + "s"));
        if (process.exitValue() != 0) {
          throw failed(plugin, "ended with " + process.exitValue());
        }
        return output;
      } finally {
        // what a script has started would outlive it
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
    }

    /**
     * What the program prints until it ends; empty if its time is over before. No call waits for
     * more output: a child in the background may hold the pipe for ever.
     */
    private Optional<byte[]> read(Process process) throws IOException, InterruptedException {
      ByteArrayOutputStream output = new ByteArrayOutputStream();
      InputStream stream = process.getInputStream();
      long begun = System.nanoTime();
      boolean ended = false;
      while (!ended && System.nanoTime() - begun < timeout.toNanos()) {
        ended = process.waitFor(LOOK.toMillis(), TimeUnit.MILLISECONDS);
        int most = MAX_OUTPUT_BYTES - output.size();
        output.write(stream.readNBytes(Math.min(stream.available(), most)));
      }
      return ended ? Optional.of(output.toByteArray()) : Optional.empty();
    }

    private static Process start(ProcessBuilder builder, ExecPlugin plugin) throws IOException {
      try {
        return builder.start();
      } catch (IOException e) {
        throw failed(plugin, "can't be run: " + e.getMessage());
      }
    }

    private static IOException failed(ExecPlugin plugin, String what) {
      return new IOException("access provider command \"" + plugin.command() + "\" " + what);
    }

    private Login login(ExecPlugin plugin, byte[] output) throws IOException {
      JsonNode credential;
      try {
        credential = JsonMappers.JSON.readTree(output);
      } catch (JsonProcessingException e) {
        throw failed(plugin, "printed no JSON");
      }
      String version = plugin.info().path("apiVersion").asText();
      if (!credential.path("kind").asText().equals("ExecCredential")
          || !credential.path("apiVersion").asText().equals(version)) {
        throw failed(plugin, "printed no ExecCredential of " + version);
      }
      JsonNode status = credential.path("status");
      Optional<String> token = text(status, "token");
      Optional<String> certificate =
          text(status, "clientCertificateData").map(ExecCredentialProvider::base64);
      Optional<String> key = text(status, "clientKeyData").map(ExecCredentialProvider::base64);
      if (certificate.isPresent() != key.isPresent()) {
        throw failed(plugin, "gave only one of clientCertificateData and clientKeyData");
      }
      if (token.isEmpty() && certificate.isEmpty()) {
        throw failed(plugin, "gave neither token nor client certificate");
      }
      if (token.isPresent() && !token.get().chars().allMatch(c -> c > ' ' && c < 0x7f)) {
        throw failed(plugin, "gave a token with a character that tokens do not have");
      }
      return new Login(token, certificate, key, expiry(plugin, status));
    }

    private static Optional<Instant> expiry(ExecPlugin plugin, JsonNode status) throws IOException {
      Optional<String> text = text(status, "expirationTimestamp");
      try {
        return text.map(Instant::parse);
      } catch (DateTimeException e) {
        throw failed(plugin, "gave an expirationTimestamp that is not a time");
      }
    }

    private static Optional<String> text(JsonNode status, String field) {
      return Optional.of(status.path(field).asText()).filter(it -> !it.isEmpty());
    }

    private static String base64(String pem) {
      return Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.UTF_8));
    }
  }
}
