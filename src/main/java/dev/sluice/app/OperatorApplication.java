package dev.sluice.app;

import dev.sluice.api.config.Configuration;
import dev.sluice.jobs.pod.PodIndex;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.leader.LeaseElector;
import dev.sluice.kube.reading.ReadErrorLog;
import dev.sluice.metrics.MetricsScrape;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.InstantSource;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operator: a context, the modules that share it, and the election. It starts by listing the
 * cluster, decides only while it leads, and ends when it is closed or has lost its lease.
 */
public final class OperatorApplication implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(OperatorApplication.class);

  private final Configuration configuration;
  private final LeaseElector elector;
  private final OperatorContext context;
  private final WorkloadModule workloads;
  private final ModuleLifecycle modules;

  /**
   * An operator that is not started.
   *
   * @param client closed with the operator
   * @param readErrors the objects that {@code client} could not read
   * @param metrics the registry of all metrics; closed with the operator
   */
  OperatorApplication(
      Configuration configuration,
      KubernetesClient client,
      ReadErrorLog readErrors,
      MetricsScrape metrics,
      InstantSource clock,
      ProcessSettings process) {
    this.configuration = configuration;
    elector =
        LeaderElectorFactory.elector(
            configuration, client, clock, process.identity(), new LeadershipListener());
    context =
        new OperatorContext(
            configuration,
            client,
            metrics,
            clock,
            configuration.leaderElection().leaderElect() ? elector : Leadership.alone(),
            process);
    workloads = new WorkloadModule(context, readErrors);
    Operator framework = KubernetesClients.framework(client, context.informers());
    modules = new ModuleLifecycle(modules(framework, readErrors), elector, context);
    modules.register(framework);
  }

  /**
   * The modules in the order of starting. Webhooks are served first because listing needs
   * conversion; Workloads are read last because the engine needs their queues before.
   */
  private List<OperatorModule> modules(Operator framework, ReadErrorLog readErrors) {
    MetricsModule metrics = new MetricsModule(context, readErrors);
    InformerModule informers = new InformerModule(context);
    SchedulerModule scheduler = new SchedulerModule(context, metrics, informers, workloads);
    QueueModule queues = new QueueModule(context, informers, scheduler, workloads);
    PodIndex podIndex = new PodIndex();
    MultiKueueModule multiKueue =
        new MultiKueueModule(context, informers, queues, workloads, podIndex);
    WorkloadLifecycleModule lifecycle =
        new WorkloadLifecycleModule(context, informers, scheduler, workloads);
    JobModule jobs = new JobModule(context, informers, workloads, podIndex);
    ServerModule servers =
        new ServerModule(
            context,
            new SyncedClusterLookup(jobs.clusterLookup(), informers.listed()),
            workloads.cache(),
            scheduler.engine());
    return List.of(
        metrics,
        servers,
        scheduler,
        informers,
        new ReconcilerFrameworkModule(framework),
        lifecycle,
        jobs,
        multiKueue,
        queues,
        workloads);
  }

  /**
   * Starts: serves webhooks at once, lists the cluster, and takes part in the election. When this
   * fails, everything is closed before the exception is thrown.
   *
   * @throws IOException when an address can't be bound, a file can't be read, or the cluster can't
   *     be listed in time
   */
  public void start() throws IOException, GeneralSecurityException {
    modules.start(new CacheSyncWaiter(configuration.controller().cacheSyncTimeout()));
    if (configuration.leaderElection().leaderElect()) {
      elector.start();
    } else {
      lead();
    }
  }

  /**
   * Begins to decide, after the Workload cache has everything that was committed before, by a past
   * leader too.
   */
  private void lead() {
    workloads
        .caughtUp()
        .thenRun(
            () -> {
              modules.leadershipStarted();
              LOG.info("operator leading=true");
            })
        .exceptionally(
            fault -> {
              LOG.error("operator leading=false", fault);
              context.fatal("leading could not begin");
              return null;
            });
  }

  /** Ends: nothing new is decided, writes in flight are waited for, the lease is released. */
  @Override
  public void close() {
    modules.close();
  }

  /** The elector calls it after {@link #start} only. */
  private final class LeadershipListener implements Leadership.Listener {

    @Override
    public void started() {
      context.executor().execute(OperatorApplication.this::lead);
    }

    @Override
    public void lost() {
      modules.leadershipEnded();
      context.fatal("the lease is lost");
    }
  }
}
