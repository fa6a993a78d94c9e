package dev.sluice.app.module;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.checks.multikueue.MultiKueueControllers;
import dev.sluice.kube.events.RecordedEventNotifier;
import dev.sluice.queues.QueueControllers;
import dev.sluice.queues.cache.CacheEventFeed;
import io.javaoperatorsdk.operator.Operator;

/**
 * The reconcilers of queues, cohorts, flavors, checks, topologies and priority classes, and the
 * feed of these objects into the engine. Starts when all caches but that of Workloads are listed.
 */
public final class QueueModule implements OperatorModule {

  private static final int WRITES_AT_A_TIME = 4;

  private final InformerModule informers;
  private final CacheEventFeed feed;
  private final QueueControllers controllers;

  /** Connected to the engine of {@code scheduler}, to which nothing is fed yet. */
  public QueueModule(
      OperatorContext context,
      InformerModule informers,
      SchedulerModule scheduler,
      WorkloadModule workloads) {
    this.informers = informers;
    feed =
        new CacheEventFeed(
            informers.caches(),
            scheduler.engine(),
            context.options().ignoresUndeclared(),
            context.options().fungibility());
    ObjectMapper mapper = JsonMappers.JSON;
    controllers =
        new QueueControllers(
            new QueueControllers.Dependencies(
                context.leadership(),
                informers.caches(),
                scheduler.engine().views(),
                workloads.cache(),
                workloads.writer(),
                context.requests(WRITES_AT_A_TIME),
                mapper,
                new RecordedEventNotifier(context.events()),
                context.clock(),
                QueueControllers.StatusRate.DEFAULT.within(context.latency()::share),
                context.workQueues()),
            context.configuration().managedJobsNamespaceSelector()::matches);
    scheduler.engine().listen(controllers.viewListener());
    workloads.reflector().listen(controllers.workloadListener());
  }

  /** What MultiKueue keeps quota by. */
  MultiKueueControllers.Quotas quotas() {
    return new MultiKueueControllers.Quotas(
        informers.caches(), controllers.quotaNotes(), controllers::again);
  }

  @Override
  public void register(Operator operator) {
    controllers.register(operator);
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) {
    feed.open();
  }

  @Override
  public void leadershipStarted() {
    controllers.leadershipStarted();
  }

  @Override
  public void close() {
    controllers.close();
  }
}
