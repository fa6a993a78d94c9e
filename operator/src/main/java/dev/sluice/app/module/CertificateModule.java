package dev.sluice.app.module;

import dev.sluice.api.config.Configuration;
import dev.sluice.server.certificates.CertificateRotator;
import dev.sluice.server.certificates.InternalCertificates;
import dev.sluice.server.certificates.KubernetesCaBundleInjector;
import dev.sluice.server.certificates.KubernetesSecretAccess;
import dev.sluice.server.certificates.ServerKeys;
import dev.sluice.server.certificates.ServerKeys.CertificateSource;
import dev.sluice.server.endpoints.HealthEndpoint;
import dev.sluice.server.endpoints.WarmUp;
import dev.sluice.server.endpoints.WebhookEndpoint;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The certificate of the servers, and the trust in it that is written into the registrations of
 * webhooks. Starts after the ports are bound: a process that can't serve takes no trust away from
 * one that does.
 */
public final class CertificateModule implements OperatorModule {

  /** How often files are looked at, which nothing tells of. */
  private static final Duration FILE_LOOKS = Duration.ofSeconds(10);

  /**
   * How often the cluster is looked at besides each change that a watch tells of: certificates
   * become old, and a watch may not be permitted.
   */
  private static final Duration CLUSTER_LOOKS = Duration.ofMinutes(10);

  private static final Duration WARM_UP = Duration.ofSeconds(1);
  private static final int WARM_UP_ROUNDS = 200;

  /** After so many rounds the process is ready; the others follow while it serves. */
  private static final int ROUNDS_UNTIL_READY = 20;

  private static final Duration UNTIL_READY = Duration.ofMillis(400);

  /** A system property: fewer rounds, for operators that are started to be killed. */
  private static final String ROUNDS_PROPERTY = "sluice.warm-up.rounds";

  private static final String LOOPBACK = "127.0.0.1";

  private static final Logger LOG = LoggerFactory.getLogger(CertificateModule.class);

  private final OperatorContext context;
  private final ServerModule servers;
  private volatile Optional<CertificateRotator> rotator = Optional.empty();
  private volatile List<CertificateRotator> others = List.of();
  private volatile CompletableFuture<Void> firstRefresh = new CompletableFuture<>();
  private volatile boolean warm;
  private volatile boolean closed;

  /** Adds its checks to the readiness that {@code servers} tells. */
  public CertificateModule(OperatorContext context, ServerModule servers) {
    this.context = context;
    this.servers = servers;
    servers.addReadinessCheck(
        "certificates",
        () ->
            rotator.filter(CertificateRotator::isReady).isPresent()
                && !servers.keys().webhooks().isExpired(context.clock().instant()));
    servers.addReadinessCheck("webhooks", () -> warm);
  }

  /** Begins to publish and use the certificate; returns at once. */
  @Override
  public void start(CacheSyncWaiter cacheSync) {
    CompletableFuture<Void> listed = listedOrLate();
    firstRefresh =
        CompletableFuture.runAsync(
            () -> refreshFirst(listed),
            task -> Thread.ofVirtual().name("first-certificates").start(task));
  }

  private void refreshFirst(CompletableFuture<Void> listed) {
    List<CertificateSource> sources = certificates();
    Duration looks =
        context.configuration().internalCertManagement().enable() ? CLUSTER_LOOKS : FILE_LOOKS;
    CertificateRotator started = new CertificateRotator(sources.getFirst(), looks);
    rotator = Optional.of(started);
    // something may have changed while the first refresh went on, when there was no rotator to tell
    started.refreshSoon();
    others = sources.stream().skip(1).map(source -> new CertificateRotator(source, looks)).toList();
    if (closed) {
      closeRotators();
    }
    var unused =
        started
            .whenReady()
            .thenRunAsync(
                () -> warmUp(listed), task -> Thread.ofVirtual().name("warm-up").start(task));
  }

  /**
   * Returns when it was tried once to publish and use the certificate. When that failed, it is
   * tried again while the start goes on.
   *
   * @throws IOException when no certificate can be looked for at all
   */
  public void awaitFirstRefresh() throws IOException {
    try {
      firstRefresh.get();
    } catch (ExecutionException e) {
      throw new IOException("no certificate can be used: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the certificate was published");
    }
  }

  /** Looks at the certificate, and at the trust in it, soon: something of both has changed. */
  public void refreshSoon() {
    rotator.ifPresent(CertificateRotator::refreshSoon);
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
                client,
                configuration.namespace(),
                internal.webhookSecretName(),
                context.shared()::check),
            new KubernetesCaBundleInjector(
                client,
                internal.webhookServiceName(),
                KubernetesCaBundleInjector.CONVERTED,
                context.shared()::check),
            servers.keys().webhooks(),
            context.process().hosts(),
            context.clock(),
            new SecureRandom()));
  }

  /**
   * A cold JVM is slow for seconds: readiness is told after the webhooks have been exercised.
   * Conversions need nothing of the cluster, so that they are exercised while it is listed. What is
   * gained by further rounds isn't waited for.
   */
  private void warmUp(CompletableFuture<Void> listed) {
    int rounds = Integer.getInteger(ROUNDS_PROPERTY, WARM_UP_ROUNDS);
    int first = Math.min(rounds, ROUNDS_UNTIL_READY);
    try {
      exercise(WarmUpRequests.conversions(), first, UNTIL_READY, listed::isDone);
      listed.join();
      exercise(WarmUpRequests.all(), first, UNTIL_READY, () -> false);
      LOG.info("webhooks port={} ready=true", servers.webhookPort());
      warm = true;
      exercise(WarmUpRequests.all(), rounds - first, WARM_UP, () -> closed);
    } catch (IOException e) {
      if (!closed) {
        LOG.warn("webhooks warm=false reason=\"{}\"", e.getMessage());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    warm = true;
  }

  private void exercise(
      List<WarmUp.Sample> samples, int rounds, Duration budget, BooleanSupplier enough)
      throws IOException, InterruptedException {
    String host = context.configuration().webhook().host();
    new WarmUp(servers.keys().webhooks(), context.clock())
        .run(
            host.isEmpty() ? LOOPBACK : host,
            servers.webhookPort(),
            samples,
            new WarmUp.Limits(rounds, budget, enough));
  }

  @Override
  public void close() {
    closed = true;
    closeRotators();
  }

  private void closeRotators() {
    rotator.ifPresent(CertificateRotator::close);
    others.forEach(CertificateRotator::close);
  }

  /**
   * Requests with which the webhooks are exercised before they are said to be ready: what an API
   * server sends most, each in the form that takes the longest way through the code.
   */
  static final class WarmUpRequests {

    private static final String JOB_KIND =
        "{\"group\": \"batch\", \"version\": \"v1\", \"kind\": \"Job\"}";

    private static final String WORKLOAD_KIND =
        "{\"group\": \"kueue.x-k8s.io\", \"version\": \"v1beta2\", \"kind\": \"Workload\"}";

    private static final String QUEUE_KIND =
        "{\"group\": \"kueue.x-k8s.io\", \"version\": \"v1beta2\", \"kind\": \"ClusterQueue\"}";

    private static final String JOB =
        """
        {"apiVersion": "batch/v1", "kind": "Job",
         "metadata": {"name": "warm-up", "namespace": "warm-up",
           "labels": {"kueue.x-k8s.io/queue-name": "warm-up"}},
         "spec": {"parallelism": 3, "completions": 3, "template": {"spec": {
           "restartPolicy": "Never", "containers": [{"name": "main", "image": "none",
             "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}}}}
        """;

    private static final String WORKLOAD =
        """
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
         "metadata": {"name": "warm-up", "namespace": "warm-up", "uid": "warm-up"},
         "spec": {"queueName": "warm-up", "priority": 0, "podSets": [{"name": "main", "count": 3,
           "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main",
             "image": "none", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}}}]},
         "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "reason": "Pending",
           "message": "warm-up", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
        """;

    private static final String CLUSTER_QUEUE =
        """
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
         "metadata": {"name": "warm-up", "uid": "warm-up"},
         "spec": {"cohortName": "warm-up", "namespaceSelector": {}, "resourceGroups": [
           {"coveredResources": ["cpu"], "flavors": [{"name": "warm-up",
             "resources": [{"name": "cpu", "nominalQuota": "1"}]}]}]},
         "status": {"pendingWorkloads": 1, "flavorsUsage": [{"name": "warm-up",
           "resources": [{"name": "cpu", "total": "1", "borrowed": "0"}]}]}}
        """;

    private WarmUpRequests() {}

    /** One request for each of the usual questions. */
    static List<WarmUp.Sample> all() {
      return List.of(
          review("/mutate-batch-v1-job", JOB_KIND, JOB),
          review("/validate-batch-v1-job", JOB_KIND, JOB),
          review("/mutate-kueue-x-k8s-io-v1beta2-workload", WORKLOAD_KIND, WORKLOAD),
          review("/validate-kueue-x-k8s-io-v1beta2-workload", WORKLOAD_KIND, WORKLOAD),
          review("/validate-kueue-x-k8s-io-v1beta2-clusterqueue", QUEUE_KIND, CLUSTER_QUEUE),
          conversion(WORKLOAD),
          conversion(CLUSTER_QUEUE));
    }

    /** Those that are answered before the cluster is listed. */
    static List<WarmUp.Sample> conversions() {
      return List.of(conversion(WORKLOAD), conversion(CLUSTER_QUEUE));
    }

    /** An update to what was there before: both objects are read, and compared. */
    private static WarmUp.Sample review(String path, String kind, String object) {
      return sample(
          path,
          """
          {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
           "request": {"uid": "warm-up", "operation": "UPDATE", "namespace": "warm-up",
             "name": "warm-up", "userInfo": {"username": "warm-up"}, "kind": %s,
             "object": %s, "oldObject": %s}}
          """
              .formatted(kind, object, object));
    }

    private static WarmUp.Sample conversion(String object) {
      return sample(
          WebhookEndpoint.CONVERSION_PATH,
          """
          {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
           "request": {"uid": "warm-up", "desiredAPIVersion": "kueue.x-k8s.io/v1beta1",
             "objects": [%s]}}
          """
              .formatted(object));
    }

    private static WarmUp.Sample sample(String path, String body) {
      return new WarmUp.Sample(path, body.getBytes(StandardCharsets.UTF_8));
    }
  }

  /**
   * Ready when the caches hold the cluster: before that, reviews are answered by 503. A listing may
   * need this process for the conversion of stored objects, and a Service routes to ready replicas
   * only; so after a while the process is ready although its caches are not, unless another replica
   * has converted the objects before.
   */
  public static final class CacheReadiness implements HealthEndpoint.Condition {

    static final Duration CONVERSION_GRACE = Duration.ofSeconds(30);

    private final CompletableFuture<Void> listed;
    private final InstantSource clock;
    private final Instant early;

    /** Begins to wait now for {@code listed} to complete. */
    public CacheReadiness(CompletableFuture<Void> listed, InstantSource clock) {
      this.listed = listed;
      this.clock = clock;
      this.early = clock.instant().plus(CONVERSION_GRACE);
    }

    @Override
    public boolean holds() {
      return listed.isDone() || !clock.instant().isBefore(early);
    }
  }
}
