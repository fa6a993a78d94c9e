package dev.sluice.app.module;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.Configuration.BindAddress;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.conversion.ConversionWebhook;
import dev.sluice.api.conversion.HubConverter;
import dev.sluice.api.queueing.QuotaSchedule.CurrentFactor;
import dev.sluice.api.queueing.QuotaSchedule.Interval;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.metrics.MetricsScrape;
import dev.sluice.metrics.ReviewMetrics;
import dev.sluice.queues.cache.CachedQuotaSchedules;
import dev.sluice.server.auth.AccessReviews;
import dev.sluice.server.auth.ClientAuthority;
import dev.sluice.server.auth.RequestAuthorizer.CachingRequestAuthorizer;
import dev.sluice.server.auth.RequestAuthorizer.KubernetesRequestAuthorizer;
import dev.sluice.server.auth.RequestUsers;
import dev.sluice.server.auth.UnverifiedClients;
import dev.sluice.server.certificates.ServerKeys;
import dev.sluice.server.endpoints.ExplainEndpoint;
import dev.sluice.server.endpoints.HealthEndpoint;
import dev.sluice.server.endpoints.JavaProfiles;
import dev.sluice.server.endpoints.MetricsEndpoint;
import dev.sluice.server.endpoints.ProfileEndpoint;
import dev.sluice.server.endpoints.QuotaScheduleEndpoint;
import dev.sluice.server.endpoints.SimulationEndpoint;
import dev.sluice.server.endpoints.UsageEndpoint;
import dev.sluice.server.endpoints.VisibilityEndpoint;
import dev.sluice.server.endpoints.WebhookEndpoint;
import dev.sluice.server.http.HttpHandler;
import dev.sluice.server.http.HttpService;
import dev.sluice.server.http.Response;
import dev.sluice.server.http.TlsSettings;
import dev.sluice.webhooks.kinds.CreationAnswers;
import dev.sluice.webhooks.kinds.ManifestReview;
import dev.sluice.webhooks.kinds.WebhookKind;
import dev.sluice.webhooks.kinds.Webhooks;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.WebhookRouter;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.WebhookSettings;
import dev.sluice.workload.record.WorkloadLister;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Function;
import java.util.function.Supplier;

/** What the operator serves: webhooks, health, metrics, the visibility API, and explanations. */
public final class ServerModule implements OperatorModule {

  private static final Duration GRACE = Duration.ofSeconds(5);
  private static final Duration USER_MEMORY = Duration.ofMinutes(1);
  private static final Duration REFUSAL_MEMORY = Duration.ofSeconds(10);

  private final OperatorContext context;
  private final Configuration configuration;
  private final WorkloadLister workloads;
  private final SchedulerQueries queries;
  private final RunTimeModule runTimes;
  private final SimulationModule simulations;
  private final Map<String, AdmissionFunction> reviews;
  private final List<WebhookKind> reviewed;
  private final ReviewMetrics reviewMetrics;
  private final ServerKeys keys;
  private final List<AutoCloseable> open = new ArrayList<>();
  private final List<HealthEndpoint.Check> liveness = new ArrayList<>();
  private final List<HealthEndpoint.Check> readiness = new ArrayList<>();
  private Optional<LedgerModule> ledger = Optional.empty();
  private Function<String, Optional<CurrentFactor>> quotas = queue -> Optional.empty();
  private Supplier<SortedMap<String, List<Interval>>> factors = Collections::emptySortedMap;
  private volatile int webhookPort;

  /**
   * Servers that are not started.
   *
   * @param clusterLookup answers the webhooks' questions
   * @param workloads the Workloads that are explained
   * @param queries asks the engine about them
   * @param runTimes says how long they run
   * @param simulations says what would become of jobs that don't exist
   */
  public ServerModule(
      OperatorContext context,
      ClusterLookup clusterLookup,
      WorkloadLister workloads,
      SchedulerQueries queries,
      RunTimeModule runTimes,
      SimulationModule simulations) {
    this.context = context;
    this.configuration = context.configuration();
    this.reviewMetrics = new ReviewMetrics(context.metrics().registry(), context::role);
    this.keys =
        configuration.internalCertManagement().enable()
            ? ServerKeys.shared()
            : ServerKeys.separate();
    this.workloads = workloads;
    this.queries = queries;
    this.runTimes = runTimes;
    this.simulations = simulations;
    WebhookSettings settings = WebhookSettings.of(configuration);
    this.reviews = Webhooks.functions(settings, clusterLookup);
    this.reviewed = WebhookKind.all(settings.declared());
  }

  /** Serves what the ledger holds, beside the visibility API; to be called before the start. */
  public void serve(LedgerModule ledgerModule) {
    ledger = Optional.of(ledgerModule);
  }

  /** Tells what quota by time of day is, and will be; to be called before the start. */
  public void tell(CachedQuotaSchedules schedules) {
    quotas = schedules::of;
    factors = schedules::upcoming;
  }

  /** Adds a check of liveness; to be called before the start. */
  public void addLivenessCheck(String name, HealthEndpoint.Condition condition) {
    liveness.add(new HealthEndpoint.Check(name, condition));
  }

  /** Adds a check of readiness; to be called before the start. */
  public void addReadinessCheck(String name, HealthEndpoint.Condition condition) {
    readiness.add(new HealthEndpoint.Check(name, condition));
  }

  /** The keys that the servers present; handshakes fail until there is one. */
  public ServerKeys keys() {
    return keys;
  }

  /** The port of the webhooks, once they are served. */
  int webhookPort() {
    return webhookPort;
  }

  /** Binds all ports; nothing is written to the cluster. */
  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException, GeneralSecurityException {
    TlsSettings tls = TlsSettings.of(configuration.tls());
    serveHealth();
    webhookPort = serveWebhooks(tls).port();
    serveMetrics(tls);
    serveVisibility(tls);
    if (configuration.pprofBindAddress().isPresent()) {
      serveProfiles(configuration.pprofBindAddress().get(), tls);
    }
  }

  private void serveHealth() throws IOException {
    HealthEndpoint health =
        new HealthEndpoint(
            configuration.health().livenessPath(),
            configuration.health().readinessPath(),
            liveness,
            readiness);
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
                ? keys.webhooks()
                    .context(ClientAuthority.of(clientAuthority.get(), keys.webhooks()))
                : keys.webhooks().context(),
            tls,
            new WebhookEndpoint(
                new WebhookRouter(
                    isVisible()
                        ? CreationAnswers.around(reviews, reviewed, simulations::lines)
                        : reviews),
                new ConversionWebhook(new HubConverter()),
                clientAuthority.isPresent(),
                reviewMetrics::givenUp),
            GRACE));
  }

  private void serveMetrics(TlsSettings tls) throws IOException, GeneralSecurityException {
    if (configuration.metrics().bindAddress().isPresent()) {
      opened(
          HttpService.tls(
              configuration.metrics().bindAddress().get(),
              keys.metrics().context(),
              tls,
              new MetricsEndpoint(
                  authorizer(MetricsEndpoint.PATH),
                  accept -> exposition(),
                  authorizer(MetricsEndpoint.CONFIGURATION_PATH),
                  configuration.effective()),
              GRACE));
    }
  }

  private void serveVisibility(TlsSettings tls) throws IOException, GeneralSecurityException {
    var visibility = configuration.visibilityServer();
    RequestUsers users =
        new RequestUsers(context.client(), USER_MEMORY, REFUSAL_MEMORY, context.clock());
    AccessReviews access =
        new AccessReviews(context.client(), USER_MEMORY, REFUSAL_MEMORY, context.clock());
    ExplainEndpoint explanations =
        new ExplainEndpoint(
            users, access, workloads, queries, runTimes.estimator()::of, runTimes.starts()::of);
    explanations.telling(quotas);
    HttpHandler visible =
        isVisible()
            ? new SimulationEndpoint(
                users,
                access,
                new ManifestReview(reviews, reviewed),
                simulations.jobSimulator(),
                simulations.requestBudget(),
                new QuotaScheduleEndpoint(
                    users,
                    access,
                    factors,
                    context.clock(),
                    new VisibilityEndpoint(
                        users, access, workloads, queries, runTimes.queueStarts(), explanations)))
            : explanations;
    HttpHandler handler =
        ledger
            .<HttpHandler>map(
                module ->
                    new UsageEndpoint(
                        users, access, module.ledger(), module::ofBudget, context.clock(), visible))
            .orElse(visible);
    opened(
        HttpService.tls(
            new BindAddress(visibility.bindAddress(), visibility.bindPort()),
            keys.visibility().context(new UnverifiedClients()),
            tls,
            handler,
            GRACE));
  }

  private boolean isVisible() {
    return configuration.featureGates().enabled(FeatureGate.VISIBILITY_ON_DEMAND);
  }

  /**
   * Who reaches the loopback address may read profiles: processes of the pod, and users who may
   * forward its ports. At other addresses users are asked who they are.
   */
  private void serveProfiles(BindAddress address, TlsSettings tls)
      throws IOException, GeneralSecurityException {
    JavaProfiles profiles = new JavaProfiles();
    if (address.isLoopback()) {
      opened(HttpService.plain(address, new ProfileEndpoint(Optional.empty(), profiles), GRACE));
    } else {
      ProfileEndpoint guarded =
          new ProfileEndpoint(Optional.of(authorizer(ProfileEndpoint.PATH)), profiles);
      opened(HttpService.tls(address, keys.metrics().context(), tls, guarded, GRACE));
    }
  }

  private CachingRequestAuthorizer authorizer(String path) {
    return new CachingRequestAuthorizer(
        new KubernetesRequestAuthorizer(context.client(), path),
        USER_MEMORY,
        REFUSAL_MEMORY,
        context.clock());
  }

  private Response exposition() {
    MetricsScrape.Exposition exposition = context.metrics().scrape();
    return new Response(200, exposition.contentType(), exposition.body());
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
