package dev.sluice.app;

import dev.sluice.api.config.Configuration;
import dev.sluice.server.CertificateRotator;
import dev.sluice.server.CertificateSource;
import dev.sluice.server.InternalCertificates;
import dev.sluice.server.KubernetesCaBundleInjector;
import dev.sluice.server.KubernetesSecretAccess;
import dev.sluice.server.ServerKeys;
import dev.sluice.server.WarmUp;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The certificate of the servers, and the trust in it that is written into the registrations of
 * webhooks. Starts after the ports are bound: a process that can't serve takes no trust away from
 * one that does.
 */
final class CertificateModule implements OperatorModule {

  private static final Duration LOOKS = Duration.ofSeconds(10);
  private static final Duration WARM_UP = Duration.ofSeconds(1);
  private static final int WARM_UP_ROUNDS = 200;

  /** A system property: fewer rounds, for operators that are started to be killed. */
  private static final String ROUNDS_PROPERTY = "sluice.warm-up.rounds";

  private static final String LOOPBACK = "127.0.0.1";

  private static final Logger LOG = LoggerFactory.getLogger(CertificateModule.class);

  private final OperatorContext context;
  private final ServerModule servers;
  private volatile Optional<CertificateRotator> rotator = Optional.empty();
  private volatile List<CertificateRotator> others = List.of();
  private volatile boolean warm;

  /** Adds its checks to the readiness that {@code servers} tells. */
  CertificateModule(OperatorContext context, ServerModule servers) {
    this.context = context;
    this.servers = servers;
    servers.addReadinessCheck(
        "certificates", () -> rotator.filter(CertificateRotator::isReady).isPresent());
    servers.addReadinessCheck("webhooks", () -> warm);
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) {
    List<CertificateSource> sources = certificates();
    CertificateRotator started = new CertificateRotator(sources.getFirst(), LOOKS);
    rotator = Optional.of(started);
    others = sources.stream().skip(1).map(source -> new CertificateRotator(source, LOOKS)).toList();
    CompletableFuture.allOf(started.whenReady(), listedOrLate())
        .thenRunAsync(this::warmUp, task -> Thread.ofVirtual().name("warm-up").start(task));
  }

  /**
   * Completes when the cluster is listed: before that, reviews are answered by 503. It doesn't keep
   * back the readiness that conversions need longer than {@link CacheReadiness} does.
   */
  private CompletableFuture<Void> listedOrLate() {
    return context
        .listed()
        .copy()
        .completeOnTimeout(null, CacheReadiness.CONVERSION_GRACE.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionally(failure -> null);
  }

  /** That of the webhooks first. */
  private List<CertificateSource> certificates() {
    KubernetesClient client = context.client();
    Configuration configuration = context.configuration();
    var internal = configuration.internalCertManagement();
    if (!internal.enable()) {
      return servers
          .keys()
          .directories(
              Path.of(configuration.webhook().certDir()),
              ServerKeys.METRICS_DIRECTORY,
              ServerKeys.VISIBILITY_DIRECTORY);
    }
    return List.of(
        new InternalCertificates(
            new KubernetesSecretAccess(
                client, configuration.namespace(), internal.webhookSecretName()),
            new KubernetesCaBundleInjector(
                client, internal.webhookServiceName(), KubernetesCaBundleInjector.CONVERTED),
            servers.keys().webhooks(),
            context.process().hosts(),
            context.clock(),
            new SecureRandom()));
  }

  /** A cold JVM is slow for seconds: readiness is told after the webhooks have been exercised. */
  private void warmUp() {
    int port = servers.webhookPort();
    try {
      String host = context.configuration().webhook().host();
      new WarmUp(servers.keys().webhooks(), context.clock())
          .run(
              host.isEmpty() ? LOOPBACK : host,
              port,
              WarmUpRequests.all(),
              Integer.getInteger(ROUNDS_PROPERTY, WARM_UP_ROUNDS),
              WARM_UP);
    } catch (IOException e) {
      LOG.warn("webhooks warm=false reason=\"{}\"", e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    LOG.info("webhooks port={} ready=true", port);
    warm = true;
  }

  @Override
  public void close() {
    rotator.ifPresent(CertificateRotator::close);
    others.forEach(CertificateRotator::close);
  }
}
