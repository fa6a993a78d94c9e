package dev.sluice.app;

import dev.sluice.api.config.BindAddress;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.conversion.ConversionWebhook;
import dev.sluice.api.conversion.HubConverter;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.metrics.MetricsScrape;
import dev.sluice.server.CachingRequestAuthorizer;
import dev.sluice.server.CertificateDirectory;
import dev.sluice.server.CertificateRotator;
import dev.sluice.server.CertificateSource;
import dev.sluice.server.ClientAuthority;
import dev.sluice.server.ExplainEndpoint;
import dev.sluice.server.HealthEndpoint;
import dev.sluice.server.HttpService;
import dev.sluice.server.InternalCertificates;
import dev.sluice.server.KubernetesCaBundleInjector;
import dev.sluice.server.KubernetesRequestAuthorizer;
import dev.sluice.server.KubernetesSecretAccess;
import dev.sluice.server.MetricsEndpoint;
import dev.sluice.server.ReloadableKeyManager;
import dev.sluice.server.Response;
import dev.sluice.server.TlsSettings;
import dev.sluice.server.WarmUp;
import dev.sluice.server.WebhookEndpoint;
import dev.sluice.webhooks.ClusterLookup;
import dev.sluice.webhooks.WebhookRouter;
import dev.sluice.webhooks.WebhookSettings;
import dev.sluice.webhooks.Webhooks;
import dev.sluice.workload.WorkloadLister;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the operator serves: webhooks, health, metrics, and explanations of pending Workloads. */
final class ServerModule implements OperatorModule {

  private static final Duration GRACE = Duration.ofSeconds(5);
  private static final Duration CERTIFICATE_LOOKS = Duration.ofSeconds(10);
  private static final Duration SCRAPER_MEMORY = Duration.ofMinutes(1);
  private static final Duration REFUSAL_MEMORY = Duration.ofSeconds(10);
  private static final Duration WARM_UP = Duration.ofSeconds(3);
  private static final int WARM_UP_ROUNDS = 200;
  private static final String LOOPBACK = "127.0.0.1";

  private static final Logger LOG = LoggerFactory.getLogger(ServerModule.class);

  private final OperatorContext context;
  private final Configuration configuration;
  private final ClusterLookup clusterLookup;
  private final WorkloadLister workloads;
  private final SchedulerQueries queries;
  private final ReloadableKeyManager keys = new ReloadableKeyManager();
  private final List<AutoCloseable> open = new ArrayList<>();
  private volatile boolean warm;

  /**
   * Servers that are not started.
   *
   * @param clusterLookup answers the webhooks' questions
   * @param workloads the Workloads that are explained
   * @param queries asks the engine about them
   */
  ServerModule(
      OperatorContext context,
      ClusterLookup clusterLookup,
      WorkloadLister workloads,
      SchedulerQueries queries) {
    this.context = context;
    this.configuration = context.configuration();
    this.clusterLookup = clusterLookup;
    this.workloads = workloads;
    this.queries = queries;
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException, GeneralSecurityException {
    CertificateRotator certificates =
        opened(new CertificateRotator(certificates(), CERTIFICATE_LOOKS));
    TlsSettings tls = TlsSettings.of(configuration.tls());
    serveHealth(certificates);
    HttpService webhooks = serveWebhooks(tls);
    serveMetrics(tls);
    serveExplanations(tls);
    certificates
        .whenReady()
        .thenRunAsync(
            () -> warmUp(webhooks.port()), task -> Thread.ofVirtual().name("warm-up").start(task));
  }

  private void serveHealth(CertificateRotator certificates) throws IOException {
    HealthEndpoint health =
        new HealthEndpoint(
            configuration.health().livenessPath(),
            configuration.health().readinessPath(),
            List.of(new HealthEndpoint.Check("watches", context.informers()::alive)),
            List.of(
                new HealthEndpoint.Check("certificates", certificates::isReady),
                new HealthEndpoint.Check("webhooks", () -> warm)));
    if (configuration.health().bindAddress().isPresent()) {
      opened(HttpService.plain(configuration.health().bindAddress().get(), health, GRACE));
    }
  }

  private HttpService serveWebhooks(TlsSettings tls) throws IOException, GeneralSecurityException {
    Optional<Path> clientAuthority = context.process().webhookClientAuthority();
    return opened(
        HttpService.tls(
            new BindAddress(configuration.webhook().host(), configuration.webhook().port()),
            clientAuthority.isPresent()
                ? keys.context(ClientAuthority.of(clientAuthority.get(), keys))
                : keys.context(),
            tls,
            new WebhookEndpoint(
                new WebhookRouter(
                    Webhooks.functions(WebhookSettings.of(configuration), clusterLookup)),
                new ConversionWebhook(new HubConverter()),
                clientAuthority.isPresent()),
            GRACE));
  }

  private void serveMetrics(TlsSettings tls) throws IOException, GeneralSecurityException {
    if (configuration.metrics().bindAddress().isPresent()) {
      opened(
          HttpService.tls(
              configuration.metrics().bindAddress().get(),
              keys.context(),
              tls,
              new MetricsEndpoint(authorizer(MetricsEndpoint.PATH), accept -> exposition()),
              GRACE));
    }
  }

  private void serveExplanations(TlsSettings tls) throws IOException, GeneralSecurityException {
    var visibility = configuration.visibilityServer();
    opened(
        HttpService.tls(
            new BindAddress(visibility.bindAddress(), visibility.bindPort()),
            keys.context(),
            tls,
            new ExplainEndpoint(authorizer(ExplainEndpoint.PREFIX), workloads, queries),
            GRACE));
  }

  private CertificateSource certificates() {
    KubernetesClient client = context.client();
    var internal = configuration.internalCertManagement();
    if (!internal.enable()) {
      return new CertificateDirectory(Path.of(configuration.webhook().certDir()), keys);
    }
    return new InternalCertificates(
        new KubernetesSecretAccess(client, configuration.namespace(), internal.webhookSecretName()),
        new KubernetesCaBundleInjector(
            client, internal.webhookServiceName(), KubernetesCaBundleInjector.CONVERTED),
        keys,
        context.process().hosts(),
        context.clock(),
        new SecureRandom());
  }

  private CachingRequestAuthorizer authorizer(String path) {
    return new CachingRequestAuthorizer(
        new KubernetesRequestAuthorizer(context.client(), path),
        SCRAPER_MEMORY,
        REFUSAL_MEMORY,
        context.clock());
  }

  private Response exposition() {
    MetricsScrape.Exposition exposition = context.metrics().scrape();
    return new Response(200, exposition.contentType(), exposition.body());
  }

  /** A cold JVM is slow for seconds: readiness is told after the webhooks have been exercised. */
  private void warmUp(int port) {
    try {
      String host = configuration.webhook().host();
      new WarmUp(keys, context.clock())
          .run(
              host.isEmpty() ? LOOPBACK : host,
              port,
              List.of(WarmUpRequests.job()),
              WARM_UP_ROUNDS,
              WARM_UP);
    } catch (IOException e) {
      LOG.warn("webhooks warm=false reason=\"{}\"", e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    warm = true;
    LOG.info("webhooks port={} ready=true", port);
  }

  private <T extends AutoCloseable> T opened(T service) {
    open.addFirst(service);
    return service;
  }

  /** Closes all servers, the newest first. */
  @Override
  public void close() {
    IllegalStateException failure = new IllegalStateException("not all servers could be closed");
    for (AutoCloseable each : open) {
      try {
        each.close();
      } catch (Exception e) {
        failure.addSuppressed(e);
      }
    }
    if (failure.getSuppressed().length > 0) {
      throw failure;
    }
  }
}
