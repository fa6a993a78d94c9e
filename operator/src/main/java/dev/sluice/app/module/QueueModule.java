package dev.sluice.app.module;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.queueing.QuotaSchedule.CurrentFactor;
import dev.sluice.checks.multikueue.MultiKueueControllers;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.ObjectReference;
import dev.sluice.kube.events.RecordedEventNotifier;
import dev.sluice.queues.ExternalConditions;
import dev.sluice.queues.QueueControllers;
import dev.sluice.queues.cache.CacheEventFeed;
import dev.sluice.queues.cache.CachedQuotaSchedules;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.mapping.EffectiveQuotasMapper;
import io.javaoperatorsdk.operator.Operator;
import java.math.BigDecimal;
import java.util.Optional;

/**
 * The reconcilers of queues, cohorts, flavors, checks, topologies and priority classes, and the
 * feed of these objects into the engine. Starts when all caches but that of Workloads are listed.
 */
public final class QueueModule implements OperatorModule {

  private static final int WRITES_AT_A_TIME = 4;

  private final OperatorContext context;
  private final InformerModule informers;
  private final CacheEventFeed feed;
  private final QueueControllers controllers;
  private final CachedQuotaSchedules schedules;

  /** Connected to the engine of {@code scheduler}, to which nothing is fed yet. */
  public QueueModule(
      OperatorContext context,
      InformerModule informers,
      SchedulerModule scheduler,
      WorkloadModule workloads) {
    this.informers = informers;
    this.context = context;
    schedules = new CachedQuotaSchedules(informers.caches(), context.clock(), context.workQueues());
    feed =
        new CacheEventFeed(
            informers.caches(),
            scheduler.engine(),
            context.options().ignoresUndeclared(),
            context.options().fungibility(),
            new EffectiveQuotasMapper(context.isEnabled(FeatureGate.DYNAMIC_QUOTA_ORCHESTRATION)),
            context.clock());
    scheduler.preemptionConfigs().ifPresent(feed::follow);
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
    if (context.isEnabled(FeatureGate.CONCURRENT_ADMISSION)) {
      controllers.honourConcurrentAdmission();
    }
    schedules.onChange(this::quotaStands);
    scheduler.engine().listen(controllers.viewListener());
    workloads.reflector().listen(controllers.workloadListener());
  }

  /** The objects of queues, flavors and topologies. */
  InformerCaches caches() {
    return informers.caches();
  }

  /** The factors of quota by time of day. */
  public CachedQuotaSchedules schedules() {
    return schedules;
  }

  /** Tells the engine and people that a factor holds. */
  private void quotaStands(
      String queue, Optional<CurrentFactor> before, Optional<CurrentFactor> now) {
    Optional<ExternalConditions.Note> note =
        now.map(
            current ->
                new ExternalConditions.Note(true, "ByTimeOfDay", "quota is " + current.text()));
    if (controllers.scheduleConditions().set(queue, note)) {
      controllers.again(queue);
    }
    if (before.isEmpty() || now.isEmpty()) {
      return;
    }
    feed.timeHasPassed(queue);
    BigDecimal factor = before.get().factor();
    if (factor.compareTo(now.get().factor()) != 0 && context.leadership().leading()) {
      informers
          .caches()
          .clusterQueues()
          .find(queue)
          .ifPresent(
              object ->
                  context
                      .events()
                      .record(
                          ObjectReference.of(object),
                          EventRecorder.Type.NORMAL,
                          "QuotaFactorChanged",
                          "Schedule",
                          "quota is %s; it was at factor %s"
                              .formatted(now.get().text(), factor.toPlainString())));
    }
  }

  /** What MultiKueue keeps quota by. */
  MultiKueueControllers.Quotas quotas() {
    return new MultiKueueControllers.Quotas(
        informers.caches(), controllers.quotaNotes(), controllers::again);
  }

  /** The reconcilers of queues and cohorts. */
  QueueControllers controllers() {
    return controllers;
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
    schedules.close();
    controllers.close();
  }
}
