package dev.sluice.app.module;

import dev.sluice.api.config.Configuration.BindAddress;
import dev.sluice.api.config.Configuration.DashboardServer;
import dev.sluice.api.queueing.QuotaSchedule.Interval;
import dev.sluice.app.module.MetricsModule.ExistingQueueViews;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.dashboard.ChangeFeed;
import dev.sluice.dashboard.DashboardEndpoint;
import dev.sluice.dashboard.DashboardSources;
import dev.sluice.dashboard.PastUse;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.kube.client.TokenReads;
import dev.sluice.server.auth.AccessReviews;
import dev.sluice.server.auth.RequestUsers;
import dev.sluice.server.auth.RequestUsers.AuthenticatingProxy;
import dev.sluice.server.auth.UnverifiedClients;
import dev.sluice.server.certificates.ReloadableKeyManager;
import dev.sluice.server.http.HttpService;
import dev.sluice.server.http.TlsSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The dashboard, where the configuration turns it on; on the leader and on every other replica. */
public final class DashboardModule implements OperatorModule {

  private static final Logger LOG = LoggerFactory.getLogger(DashboardModule.class);

  private static final Duration GRACE = Duration.ofSeconds(1);
  private static final Duration USER_MEMORY = Duration.ofMinutes(1);
  private static final Duration REFUSAL_MEMORY = Duration.ofSeconds(10);

  private final OperatorContext context;
  private final DashboardServer settings;
  private final ReloadableKeyManager keys;
  private final DashboardSources sources;
  private final ChangeFeed feed = new ChangeFeed();
  private final PastUse pastUse = new PastUse();
  private @Nullable HttpService service;
  private @Nullable TokenReads reads;
  private @Nullable Thread sampler;

  /** What it shows. */
  public static DashboardSources sources(
      OperatorContext context,
      QueueModule queues,
      SchedulerModule scheduler,
      WorkloadModule workloads,
      RunTimeModule runTimes,
      MultiKueueModule multiKueue) {
    return new DashboardSources(
        ExistingQueueViews.of(scheduler.engine().views(), queues.caches()),
        queues.caches(),
        workloads.cache(),
        scheduler.clientQueries(),
        new DashboardSources.Expected() {
          @Override
          public Map<WorkloadId, StartEstimate> starts(String clusterQueue, Duration patience) {
            return runTimes.queueStarts().ofClusterQueue(clusterQueue, patience);
          }

          @Override
          public SortedMap<String, List<Interval>> factors() {
            return queues.schedules().upcoming();
          }
        },
        multiKueue::workerClusters,
        context.leadership()::leading,
        context.clock());
  }

  /**
   * Told of changes by the engine and by the Workloads.
   *
   * @param keys what the server presents
   */
  public DashboardModule(
      OperatorContext context,
      ReloadableKeyManager keys,
      DashboardSources sources,
      SchedulerModule scheduler,
      WorkloadModule workloads) {
    this.context = context;
    this.settings = context.configuration().dashboard();
    this.keys = keys;
    this.sources = sources;
    if (settings.enabled()) {
      scheduler.engine().listen(feed);
      workloads.cache().listen(feed);
    }
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException, GeneralSecurityException {
    if (!settings.enabled()) {
      return;
    }
    RequestUsers users =
        new RequestUsers(context.client(), proxy(), USER_MEMORY, REFUSAL_MEMORY, context.clock());
    AccessReviews access =
        new AccessReviews(context.client(), USER_MEMORY, REFUSAL_MEMORY, context.clock());
    TokenReads ofViewers = new TokenReads(context.client().getConfiguration());
    reads = ofViewers;
    HttpService started =
        HttpService.tls(
            new BindAddress(settings.bindAddress(), settings.bindPort()),
            keys.context(new UnverifiedClients()),
            TlsSettings.of(context.configuration().tls()),
            new DashboardEndpoint(users, access, sources, feed, pastUse, ofViewers::get),
            GRACE);
    service = started;
    sampler = Thread.ofVirtual().name("dashboard-history").start(this::sample);
    LOG.info(
        "dashboard port={} address=https://localhost:{}/ login=\"a token of a ServiceAccount:"
            + " kubectl create token NAME -n NAMESPACE\"",
        started.port(),
        started.port());
  }

  private void sample() {
    try {
      while (true) {
        try {
          pastUse.sample(context.clock().instant(), sources.views().clusterQueues());
        } catch (RuntimeException | Error e) {
          LOG.warn("dashboard history=unread", e);
        }
        Thread.sleep(PastUse.INTERVAL);
      }
    } catch (InterruptedException theProcessEnds) {
      Thread.currentThread().interrupt();
    }
  }

  private Optional<AuthenticatingProxy> proxy() {
    return settings
        .proxy()
        .map(
            proxy ->
                new AuthenticatingProxy(
                    Path.of(proxy.clientCaFile()),
                    proxy.names(),
                    proxy.userHeader(),
                    proxy.groupsHeader()));
  }

  /** Ends the streams before the server, which waits for requests in progress. */
  @Override
  public void close() {
    feed.close();
    Thread sampling = sampler;
    if (sampling != null) {
      sampling.interrupt();
    }
    HttpService started = service;
    if (started != null) {
      started.close();
    }
    TokenReads ofViewers = reads;
    if (ofViewers != null) {
      ofViewers.close();
    }
  }
}
