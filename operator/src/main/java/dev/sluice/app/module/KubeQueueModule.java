package dev.sluice.app.module;

import dev.sluice.api.config.KubeQueue;
import dev.sluice.core.engine.SchedulerThread;
import dev.sluice.kube.definitions.ServedDefinitions;
import dev.sluice.kubequeue.QueueItemsReporter;
import dev.sluice.kubequeue.QuotaReconciler;
import dev.sluice.kubequeue.QuotaUsageReporter;
import dev.sluice.kubequeue.SourceObjects;
import java.io.IOException;
import java.util.Optional;

/**
 * Queues from the quotas of Kube Queue, and the intake of jobs without a queue name. Does nothing
 * unless the configuration turns it on. Starts last: what it makes depends on all other caches.
 */
public final class KubeQueueModule implements OperatorModule {

  private static final int WRITES_AT_A_TIME = 2;

  private final Optional<Parts> parts;

  /** What runs if it is turned on. */
  private record Parts(
      ServedDefinitions definitions,
      QuotaReconciler quotas,
      QuotaUsageReporter usage,
      Optional<QueueItemsReporter> items) {}

  /**
   * Connected, and not started.
   *
   * @param schedulerThread is asked what is pending, and what is used
   */
  public KubeQueueModule(
      OperatorContext context,
      InformerModule informers,
      WorkloadModule workloads,
      SchedulerThread schedulerThread) {
    KubeQueue configuration = context.configuration().kubeQueue();
    parts =
        configuration.enabled()
            ? Optional.of(parts(context, configuration, informers, workloads, schedulerThread))
            : Optional.empty();
  }

  private static Parts parts(
      OperatorContext context,
      KubeQueue configuration,
      InformerModule informers,
      WorkloadModule workloads,
      SchedulerThread schedulerThread) {
    ServedDefinitions definitions = new ServedDefinitions(context.reflectors());
    QuotaReconciler quotas =
        new QuotaReconciler(
            configuration,
            new QuotaReconciler.Dependencies(
                informers.caches(),
                workloads.cache(),
                context.requests(WRITES_AT_A_TIME),
                context.events(),
                context.leadership()::leading,
                context.workQueues()),
            changed ->
                new SourceObjects(
                    context.client(),
                    context.informers(),
                    definitions,
                    configuration.sources(),
                    changed));
    Optional<QueueItemsReporter> items =
        configuration.units().own() == KubeQueue.OwnUnits.MIRROR
            ? Optional.of(
                new QueueItemsReporter(
                    new QueueItemsReporter.Dependencies(
                        informers.caches(),
                        workloads.cache(),
                        schedulerThread,
                        context.requests(1),
                        context.leadership()::leading,
                        context.workQueues()),
                    quotas.objects()))
            : Optional.empty();
    QuotaUsageReporter usage =
        new QuotaUsageReporter(
            new QuotaUsageReporter.Dependencies(
                informers.caches(),
                schedulerThread.views(),
                context.requests(1),
                context.leadership()::leading,
                context.workQueues()),
            quotas.objects());
    return new Parts(definitions, quotas, usage, items);
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    if (parts.isPresent()) {
      cacheSync.await("customresourcedefinitions", parts.get().definitions().start());
      cacheSync.await("quotas", parts.get().quotas().objects().start());
    }
  }

  @Override
  public void leadershipStarted() {
    parts.ifPresent(
        each -> {
          each.quotas().start();
          each.usage().start();
          each.items().ifPresent(QueueItemsReporter::start);
        });
  }

  @Override
  public void stop() {
    parts.ifPresent(
        each -> {
          each.definitions().close();
          each.items().ifPresent(QueueItemsReporter::close);
          each.usage().close();
          each.quotas().close();
        });
  }
}
