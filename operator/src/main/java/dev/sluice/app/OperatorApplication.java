package dev.sluice.app;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.FeatureGates;
import dev.sluice.app.module.AccountingModule;
import dev.sluice.app.module.CacheSyncWaiter;
import dev.sluice.app.module.CapacityModule;
import dev.sluice.app.module.CertificateModule;
import dev.sluice.app.module.CertificateModule.CacheReadiness;
import dev.sluice.app.module.DashboardModule;
import dev.sluice.app.module.DeclaredKinds;
import dev.sluice.app.module.FailureRecoveryModule;
import dev.sluice.app.module.InformerModule;
import dev.sluice.app.module.InstallationModule;
import dev.sluice.app.module.JobModule;
import dev.sluice.app.module.KubeQueueModule;
import dev.sluice.app.module.KubernetesClients;
import dev.sluice.app.module.LedgerModule;
import dev.sluice.app.module.MetricsModule;
import dev.sluice.app.module.MultiKueueModule;
import dev.sluice.app.module.OperatorContext;
import dev.sluice.app.module.OperatorContext.LeaderElectorFactory;
import dev.sluice.app.module.OperatorContext.ProcessSettings;
import dev.sluice.app.module.OperatorModule;
import dev.sluice.app.module.ProvisioningModule;
import dev.sluice.app.module.QueueModule;
import dev.sluice.app.module.ReconcilerFrameworkModule;
import dev.sluice.app.module.RunTimeModule;
import dev.sluice.app.module.SchedulerModule;
import dev.sluice.app.module.ServerModule;
import dev.sluice.app.module.SimulationModule;
import dev.sluice.app.module.TopologyModule;
import dev.sluice.app.module.WorkloadLifecycleModule;
import dev.sluice.app.module.WorkloadModule;
import dev.sluice.install.Installer;
import dev.sluice.jobs.kinds.pod.PodIndex;
import dev.sluice.kube.client.WriteGate;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.leader.LeaseElector;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.metrics.MetricsScrape;
import dev.sluice.metrics.ReconcilerMetrics;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operator: a context, the modules that share it, and the election. It starts by listing the
 * cluster, decides only while it leads, and ends when it is closed or has lost its lease.
 */
public final class OperatorApplication implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(OperatorApplication.class);

  /** How long writes in flight are waited for before the lease is released. */
  private static final Duration WRITES_LIMIT = Duration.ofSeconds(10);

  private final Configuration configuration;
  private final LeaseElector elector;
  private final OperatorContext context;
  private final WorkloadModule workloads;
  private final ModuleLifecycle modules;
  private volatile boolean draining;

  /**
   * An operator that is not started.
   *
   * @param client closed with the operator
   * @param readErrors the objects that {@code client} could not read
   * @param metrics the registry of all metrics; closed with the operator
   * @param installer runs when the ports are bound; empty if nothing is to be installed
   */
  OperatorApplication(
      Configuration configuration,
      KubernetesClient client,
      ReadErrorLog readErrors,
      MetricsScrape metrics,
      InstantSource clock,
      ProcessSettings process,
      Optional<Installer> installer) {
    this.configuration = configuration;
    elector =
        LeaderElectorFactory.elector(
            configuration, client, clock, process.identity(), new LeadershipListener());
    context =
        new OperatorContext(
            configuration,
            new Reflectors(client, clock, new Random(process.identity().hashCode()), readErrors),
            metrics,
            configuration.leaderElection().leaderElect()
                ? elector
                : Leadership.alone(this::hasListed),
            process);
    workloads = new WorkloadModule(context);
    Operator framework =
        KubernetesClients.framework(
            client,
            context.informers(),
            configuration.controller().cacheSyncTimeout(),
            new ReconcilerMetrics(metrics.registry(), System::nanoTime));
    modules =
        new ModuleLifecycle(
            modules(framework, installer),
            new DrainedLease(context.writes(), elector, WRITES_LIMIT),
            context);
    modules.register(framework);
  }

  /**
   * The modules in the order of starting. Ports are bound before anything is written to the
   * cluster, so that a process that can't serve doesn't disturb one that does. Webhooks are served
   * before anything of this API is listed because listing needs conversion. Listings go on at the
   * same time, but Workloads get into the cache last because the engine needs their queues before.
   */
  private List<OperatorModule> modules(Operator framework, Optional<Installer> installer) {
    InformerModule informers = new InformerModule(context);
    MetricsModule metrics = new MetricsModule(context, informers.caches());
    Optional<LedgerModule> ledger =
        configuration.ledger().enabled()
            ? Optional.of(new LedgerModule(context, informers, workloads))
            : Optional.empty();
    AccountingModule accounting = new AccountingModule(context, informers, workloads);
    SchedulerModule scheduler =
        new SchedulerModule(context, metrics, informers, workloads, accounting);
    ledger.ifPresent(module -> module.connect(scheduler));
    QueueModule queues = new QueueModule(context, informers, scheduler, workloads);
    PodIndex podIndex = new PodIndex();
    MultiKueueModule multiKueue =
        new MultiKueueModule(context, informers, scheduler, queues, workloads, podIndex);
    WorkloadLifecycleModule lifecycle =
        new WorkloadLifecycleModule(context, informers, scheduler, workloads, accounting);
    JobModule jobs = new JobModule(context, informers, workloads, metrics, podIndex, accounting);
    ProvisioningModule provisioning =
        new ProvisioningModule(context, informers, workloads, jobs.definitions());
    TopologyModule topology =
        new TopologyModule(context, informers, scheduler, workloads, accounting, metrics);
    RunTimeModule runTimes = new RunTimeModule(context, informers, workloads, scheduler);
    SimulationModule simulations =
        new SimulationModule(context, scheduler, jobs, runTimes, multiKueue);
    ServerModule servers =
        new ServerModule(
            context,
            new SyncedClusterLookup(jobs.clusterLookup(), context.listed()),
            workloads.cache(),
            scheduler.clientQueries(),
            runTimes,
            simulations);
    ledger.ifPresent(servers::serve);
    servers.tell(queues.schedules());
    metrics.quotaFactors(queues.schedules());
    metrics.reservations(scheduler);
    DashboardModule dashboard =
        new DashboardModule(
            context,
            servers.keys().visibility(),
            DashboardModule.sources(context, queues, scheduler, workloads, runTimes, multiKueue),
            scheduler,
            workloads);
    CertificateModule certificates = new CertificateModule(context, servers);
    InstallationModule installation =
        new InstallationModule(context, servers, jobs.definitions(), installer);
    installation.onTrustChanged(certificates::refreshSoon);
    addHealthChecks(servers, scheduler, jobs);
    List<OperatorModule> modules =
        new ArrayList<>(
            List.of(
                metrics,
                servers,
                dashboard,
                installation,
                certificates,
                scheduler,
                new ConcurrentListings(informers, jobs, certificates, workloads),
                informers,
                new CapacityModule(context, informers, queues, multiKueue, accounting, framework),
                new ReconcilerFrameworkModule(framework),
                lifecycle,
                jobs,
                multiKueue,
                provisioning,
                queues,
                topology,
                accounting,
                new FailureRecoveryModule(context),
                runTimes,
                simulations));
    ledger.ifPresent(modules::add);
    modules.add(workloads);
    modules.add(new QueueDump(scheduler.engine().views(), scheduler.engine()));
    modules.add(new DeclaredKinds(context));
    modules.add(new KubeQueueModule(context, informers, workloads, scheduler.engine()));
    return modules;
  }

  private void addHealthChecks(ServerModule servers, SchedulerModule scheduler, JobModule jobs) {
    servers.addLivenessCheck("watches", context.informers()::alive);
    servers.addLivenessCheck("engine", scheduler::alive);
    servers.addLivenessCheck("job-controllers", jobs::alive);
    servers.addReadinessCheck("caches", new CacheReadiness(context.listed(), context.clock()));
    servers.addReadinessCheck("shutting-down", () -> !draining);
  }

  /**
   * Starts: binds the ports, serves webhooks, lists the cluster, and takes part in the election.
   * When this fails, everything is closed before the exception is thrown.
   *
   * @throws IOException when an address can't be bound, a file can't be read, or the cluster can't
   *     be listed in time
   */
  public void start() throws IOException, GeneralSecurityException {
    LOG.info("feature gates on=default missing={}", FeatureGates.missingDefaults());
    modules.start(new CacheSyncWaiter(configuration.controller().cacheSyncTimeout()));
    context.listed().complete(null);
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
    var unused =
        workloads
            .caughtUp()
            .orTimeout(
                configuration.controller().cacheSyncTimeout().toMillis(), TimeUnit.MILLISECONDS)
            .thenApplyAsync(any -> modules.leadershipStarted(), context.executor())
            .handle(
                (started, fault) -> {
                  if (fault == null) {
                    LOG.info("operator leading={}", started);
                  } else if (!modules.closing()) {
                    LOG.error("operator leading=false", fault);
                    context.fatal("leading could not begin");
                  }
                  return started;
                });
  }

  /**
   * Whether all caches hold the cluster. Until then the webhooks answer with status 503, even if
   * the process is ready because others may wait for its conversions.
   */
  public boolean hasListed() {
    return context.listed().isDone();
  }

  /**
   * Says from now on that it isn't ready, and goes on with everything else: whoever routes requests
   * has time to route them to another replica before {@link #close}.
   */
  public void drain() {
    draining = true;
    LOG.info("operator ready=false reason=\"it ends\"");
  }

  /** Ends: nothing new is decided, writes in flight are waited for, the lease is released. */
  @Override
  public void close() {
    draining = true;
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
      if (!modules.closing()) {
        context.fatal("the lease is lost");
      }
    }
  }

  /**
   * Begins the first listings, which the modules after this one wait for. The kinds of this API are
   * listed when the trust in the certificate of the webhooks has been published: the API server may
   * ask this process to convert stored objects. Everything else is listed meanwhile.
   */
  private record ConcurrentListings(
      InformerModule informers,
      JobModule jobs,
      CertificateModule certificates,
      WorkloadModule workloads)
      implements OperatorModule {

    @Override
    public void start(CacheSyncWaiter cacheSync) throws IOException {
      informers.beginListing();
      jobs.beginListing();
      certificates.awaitFirstRefresh();
      workloads.beginListing();
    }
  }

  /**
   * The lease of a process that writes. Closing it lets no write be sent any more, waits for those
   * in flight, and releases the lease. While a write may still be in flight the lease isn't
   * released: another process leads when the lease has run out.
   *
   * @param writes the gate of all writes that need the lease
   * @param limit the longest wait for writes in flight
   */
  record DrainedLease(WriteGate writes, LeaseElector elector, Duration limit)
      implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DrainedLease.class);

    @Override
    public void close() {
      if (writes.close(limit)) {
        elector.close();
      } else {
        LOG.warn("lease released=false reason=\"writes are in flight after {}\"", limit);
        elector.abandon();
      }
    }
  }

  /**
   * Takes modules through their life cycle. A step of the shutdown that fails is logged and does
   * not prevent the steps after it; the lease is released in any case.
   */
  static final class ModuleLifecycle implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ModuleLifecycle.class);

    private final List<OperatorModule> modules;
    private final AutoCloseable lease;
    private final AutoCloseable context;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final ReentrantLock leadership = new ReentrantLock();
    private volatile boolean over;

    /**
     * Modules that are not registered yet.
     *
     * @param modules in the order of starting
     * @param lease closing it gives the leadership to another process
     * @param context what all modules share; closed last
     */
    ModuleLifecycle(List<OperatorModule> modules, AutoCloseable lease, AutoCloseable context) {
      this.modules = List.copyOf(modules);
      this.lease = lease;
      this.context = context;
    }

    /** Registers the reconcilers of all modules. */
    void register(Operator operator) {
      modules.forEach(module -> module.register(operator));
    }

    /**
     * Starts all modules in order. When one can't be started, everything is closed as {@link
     * #close} does before the exception is thrown.
     *
     * @throws IOException when a cache is not listed in time, or an address can't be bound
     */
    void start(CacheSyncWaiter cacheSync) throws IOException, GeneralSecurityException {
      boolean started = false;
      try {
        for (OperatorModule module : modules) {
          module.start(cacheSync);
        }
        started = true;
      } finally {
        if (!started) {
          close();
        }
      }
    }

    /**
     * Tells all modules that this process leads; fails when one of them does. Leadership ends once
     * and for all: a module isn't told of its start after its end.
     *
     * @return false if leadership ended before all modules were told
     */
    boolean leadershipStarted() {
      for (OperatorModule module : modules) {
        leadership.lock();
        try {
          if (over) {
            return false;
          }
          module.leadershipStarted();
        } finally {
          leadership.unlock();
        }
      }
      return true;
    }

    /** Tells all modules that nothing is to be decided any more. */
    void leadershipEnded() {
      over = true;
      leadership.lock();
      try {
        for (OperatorModule module : modules) {
          runStep("end of leadership", module, module::leadershipEnded);
        }
      } finally {
        leadership.unlock();
      }
    }

    /** Whether {@link #close} was called. */
    boolean closing() {
      return closed.get();
    }

    /**
     * Ends everything, once: nothing new is decided, the modules stop writing, the lease is
     * released, the modules are closed. Another process decides as soon as it holds the lease, so
     * that no write of this one may be in flight by then.
     */
    @Override
    public void close() {
      if (closed.getAndSet(true)) {
        return;
      }
      try {
        leadershipEnded();
        for (OperatorModule module : modules.reversed()) {
          runStep("stop", module, module::stop);
        }
      } finally {
        runStep("release", "lease", lease);
      }
      for (OperatorModule module : modules.reversed()) {
        runStep("close", module, module);
      }
      runStep("close", "context", context);
    }

    private static void runStep(String step, Object target, AutoCloseable action) {
      runStep(step, target.getClass().getSimpleName(), action);
    }

    private static void runStep(String step, String target, AutoCloseable action) {
      try {
        action.close();
      } catch (Exception e) {
        LOG.error("shutdown step=\"{}\" target={} result=failed", step, target, e);
      }
    }
  }
}
