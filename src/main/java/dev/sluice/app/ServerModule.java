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
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the operator serves: webhooks, health and metrics. */
final class ServerModule implements AutoCloseable {

  private static final Duration GRACE = Duration.ofSeconds(5);
  private static final Duration CERTIFICATE_LOOKS = Duration.ofSeconds(10);
  private static final Duration SCRAPER_MEMORY = Duration.ofMinutes(1);
  private static final Duration REFUSAL_MEMORY = Duration.ofSeconds(10);
  private static final Duration WARM_UP = Duration.ofSeconds(3);
  private static final int WARM_UP_ROUNDS = 200;
  private static final String LOOPBACK = "127.0.0.1";

  private static final Logger LOG = LoggerFactory.getLogger(ServerModule.class);

  private final Configuration configuration;
  private final InstantSource clock;
  private final HealthEndpoint.Condition watches;
  private final ReloadableKeyManager keys = new ReloadableKeyManager();
  private final List<AutoCloseable> open = new ArrayList<>();
  private volatile boolean warm;

  ServerModule(Configuration configuration, InstantSource clock, HealthEndpoint.Condition watches) {
    this.configuration = configuration;
    this.clock = clock;
    this.watches = watches;
  }

  /**
   * Serves everything.
   *
   * @param hosts names and addresses by which the API server reaches this process
   * @param clientAuthority PEM file of the authorities whose clients are answered about admission;
   *     everybody is without one
   * @throws IOException when an address can't be bound
   */
  void start(
      KubernetesClient client,
      ClusterLookup facts,
      MetricsScrape metrics,
      List<String> hosts,
      Optional<Path> clientAuthority,
      WorkloadLister workloads,
      SchedulerQueries engine)
      throws IOException, GeneralSecurityException {
    CertificateRotator keeper =
        opened(new CertificateRotator(certificates(client, hosts), CERTIFICATE_LOOKS));
    HealthEndpoint health =
        new HealthEndpoint(
            configuration.health().livenessPath(),
            configuration.health().readinessPath(),
            List.of(new HealthEndpoint.Check("watches", watches)),
            List.of(
                new HealthEndpoint.Check("certificates", keeper::isReady),
                new HealthEndpoint.Check("webhooks", () -> warm)));
    if (configuration.health().bindAddress().isPresent()) {
      opened(HttpService.plain(configuration.health().bindAddress().get(), health, GRACE));
    }
    TlsSettings tls = TlsSettings.of(configuration.tls());
    HttpService webhooks =
        opened(
            HttpService.tls(
                new BindAddress(configuration.webhook().host(), configuration.webhook().port()),
                clientAuthority.isPresent()
                    ? keys.context(ClientAuthority.of(clientAuthority.get(), keys))
                    : keys.context(),
                tls,
                new WebhookEndpoint(
                    new WebhookRouter(Webhooks.functions(WebhookSettings.of(configuration), facts)),
                    new ConversionWebhook(new HubConverter()),
                    clientAuthority.isPresent()),
                GRACE));
    if (configuration.metrics().bindAddress().isPresent()) {
      opened(
          HttpService.tls(
              configuration.metrics().bindAddress().get(),
              keys.context(),
              tls,
              new MetricsEndpoint(
                  authorizer(client, MetricsEndpoint.PATH), accept -> exposition(metrics)),
              GRACE));
    }
    var visibility = configuration.visibilityServer();
    opened(
        HttpService.tls(
            new BindAddress(visibility.bindAddress(), visibility.bindPort()),
            keys.context(),
            tls,
            new ExplainEndpoint(authorizer(client, ExplainEndpoint.PREFIX), workloads, engine),
            GRACE));
    keeper
        .whenReady()
        .thenRunAsync(
            () -> warmUp(webhooks.port()), task -> Thread.ofVirtual().name("warm-up").start(task));
  }

  private CertificateSource certificates(KubernetesClient client, List<String> hosts) {
    var internal = configuration.internalCertManagement();
    if (!internal.enable()) {
      return new CertificateDirectory(Path.of(configuration.webhook().certDir()), keys);
    }
    return new InternalCertificates(
        new KubernetesSecretAccess(client, configuration.namespace(), internal.webhookSecretName()),
        new KubernetesCaBundleInjector(
            client, internal.webhookServiceName(), KubernetesCaBundleInjector.CONVERTED),
        keys,
        hosts,
        clock,
        new SecureRandom());
  }

  private CachingRequestAuthorizer authorizer(KubernetesClient client, String path) {
    return new CachingRequestAuthorizer(
        new KubernetesRequestAuthorizer(client, path), SCRAPER_MEMORY, REFUSAL_MEMORY, clock);
  }

  private static Response exposition(MetricsScrape metrics) {
    MetricsScrape.Exposition exposition = metrics.scrape();
    return new Response(200, exposition.contentType(), exposition.body());
  }

  /** A cold JVM is slow for seconds: readiness is told after the webhooks have been exercised. */
  private void warmUp(int port) {
    try {
      String host = configuration.webhook().host();
      new WarmUp(keys, clock)
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

  @Override
  public void close() {
    for (AutoCloseable each : open) {
      try {
        each.close();
      } catch (Exception e) {
        throw new IllegalStateException(each + " can't be closed", e);
      }
    }
  }
}
