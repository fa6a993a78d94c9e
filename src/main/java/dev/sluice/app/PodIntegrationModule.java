package dev.sluice.app;

import dev.sluice.jobs.AdmissionCheckEvents;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.jobs.RemoteExecutionLookup;
import dev.sluice.jobs.pod.PodController;
import dev.sluice.jobs.pod.PodGroupReconciler;
import dev.sluice.jobs.pod.PodIndex;
import dev.sluice.jobs.pod.SinglePod;
import dev.sluice.jobs.statefulset.StatefulSetController;
import dev.sluice.jobs.statefulset.StatefulSetReconciler;
import java.io.IOException;
import java.util.Optional;

/** The integrations of pods and StatefulSets, as far as the configuration enables them. */
final class PodIntegrationModule implements OperatorModule {

  private static final int WRITES_AT_A_TIME = 16;

  private final OperatorContext context;
  private final JobModule jobs;
  private final PodIndex podIndex;
  private final RemoteExecutionLookup remoteExecution;
  private final Optional<PodController> pods;
  private final Optional<StatefulSetController> statefulSets;

  /** Fills {@code podIndex} after the start. */
  PodIntegrationModule(
      OperatorContext context, InformerModule informers, JobModule jobs, PodIndex podIndex) {
    this.context = context;
    this.jobs = jobs;
    this.podIndex = podIndex;
    remoteExecution = new RemoteExecutionLookup(informers.caches());
    pods = context.options().managesPods() ? Optional.of(pods()) : Optional.empty();
    statefulSets =
        context.options().manages("statefulset") ? Optional.of(statefulSets()) : Optional.empty();
  }

  private PodController pods() {
    JobReconciler.Dependencies dependencies = jobs.dependencies();
    dependencies
        .workloads()
        .listen(
            new AdmissionCheckEvents(
                SinglePod.KIND, dependencies.events(), context.leadership()::leading));
    return new PodController(
        context.client(),
        podIndex,
        new JobReconciler(
            new SinglePod(),
            jobs.options(),
            jobs.owners(),
            remoteExecution,
            dependencies,
            WRITES_AT_A_TIME),
        new PodGroupReconciler(
            podIndex,
            jobs.options(),
            jobs.owners(),
            remoteExecution,
            dependencies,
            WRITES_AT_A_TIME),
        dependencies,
        context.executor(),
        context::schedule,
        context.leadership()::leading);
  }

  private StatefulSetController statefulSets() {
    return new StatefulSetController(
        context.client(),
        new StatefulSetReconciler(
            jobs.options(),
            jobs.owners(),
            remoteExecution,
            jobs.statefulSetWorkloads(),
            jobs.dependencies(),
            WRITES_AT_A_TIME),
        podIndex,
        jobs.registry(),
        jobs.dependencies(),
        context.executor(),
        context::schedule,
        context.leadership()::leading);
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    if (pods.isPresent()) {
      cacheSync.await("pods", pods.get().start());
    }
    if (statefulSets.isPresent()) {
      cacheSync.await("StatefulSets", statefulSets.get().start());
    }
  }

  @Override
  public void leadershipStarted() {
    pods.ifPresent(PodController::leadershipStarted);
    statefulSets.ifPresent(StatefulSetController::leadershipStarted);
  }

  @Override
  public void stop() {
    try {
      pods.ifPresent(PodController::close);
    } finally {
      statefulSets.ifPresent(StatefulSetController::close);
    }
  }
}
