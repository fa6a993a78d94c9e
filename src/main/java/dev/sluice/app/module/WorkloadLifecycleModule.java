package dev.sluice.app.module;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.queues.cache.CachedQueues;
import dev.sluice.queues.cache.QueueStateNotifier;
import dev.sluice.workload.lifecycle.WorkloadLifecycle;

/** The life cycle of Workloads beside admission: holds, checks, readiness of pods, retention. */
public final class WorkloadLifecycleModule implements OperatorModule {

  private final WorkloadLifecycle lifecycle;

  /** Connected to the Workload and queue caches. */
  public WorkloadLifecycleModule(
      OperatorContext context,
      InformerModule informers,
      SchedulerModule scheduler,
      WorkloadModule workloads) {
    lifecycle =
        new WorkloadLifecycle(
            workloads.cache(),
            workloads.writer(),
            new CachedQueues(informers.caches()),
            context
                .options()
                .lifecycle()
                .evicting(new AttendedKinds(context))
                .replacing(
                    slice ->
                        context.isEnabled(FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES)
                            && AttendedKinds.isSliceOfOthers(slice)),
            scheduler.events(),
            context.leadership()::leading,
            context.clock(),
            context.executor(),
            context::schedule);
    QueueStateNotifier.connect(informers.caches(), lifecycle);
    workloads.reflector().listen(lifecycle);
  }

  @Override
  public void leadershipStarted() {
    lifecycle.leadershipStarted();
  }
}
