package dev.sluice.app.module;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.queues.cache.CachedQueues;
import dev.sluice.queues.cache.QueueStateNotifier;
import dev.sluice.workload.lifecycle.WorkloadLifecycle;
import java.util.Optional;

/** The life cycle of Workloads beside admission: holds, checks, readiness of pods, retention. */
public final class WorkloadLifecycleModule implements OperatorModule {

  private final WorkloadLifecycle lifecycle;

  /** Connected to the Workload and queue caches. */
  public WorkloadLifecycleModule(
      OperatorContext context,
      InformerModule informers,
      SchedulerModule scheduler,
      WorkloadModule workloads,
      AccountingModule accounting) {
    CachedQueues queues = new CachedQueues(informers.caches());
    lifecycle =
        new WorkloadLifecycle(
            workloads.cache(),
            workloads.writer(),
            workload ->
                queues
                    .apply(workload)
                    .withUnresolvedDevices(
                        workload.quotaReserved()
                            ? Optional.empty()
                            : scheduler.translator().unresolvedDevices(workload))
                    .withUnscheduledPods(accounting.hasUnscheduledPods(workload)),
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
    informers.whenDevicesChange(
        namespace -> lifecycle.devicesChanged(namespace, scheduler.translator()::mayUseDevices));
    workloads.reflector().listen(lifecycle);
  }

  @Override
  public void leadershipStarted() {
    lifecycle.leadershipStarted();
  }
}
