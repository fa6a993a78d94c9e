package dev.sluice.app;

import dev.sluice.jobs.AdmissionCheckEvents;
import dev.sluice.jobs.IntegrationRegistry;
import dev.sluice.jobs.JobOptions;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.jobs.OwnerChainResolver;
import dev.sluice.jobs.RemoteExecutionLookup;
import dev.sluice.jobs.pod.PodController;
import dev.sluice.jobs.pod.PodGroupReconciler;
import dev.sluice.jobs.pod.PodIndex;
import dev.sluice.jobs.pod.SinglePod;
import dev.sluice.jobs.statefulset.StatefulSetController;
import dev.sluice.jobs.statefulset.StatefulSetReconciler;
import dev.sluice.jobs.statefulset.StatefulSetWorkloads;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.queues.cache.InformerCaches;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;

/** What handles pods, and what makes pods: as far as the configuration asks for it. */
final class PodIntegrationModule implements AutoCloseable {

  private static final int WRITES_AT_A_TIME = 16;

  private final Optional<PodController> pods;
  private final Optional<StatefulSetController> sets;

  /**
   * What they work with.
   *
   * @param jobs the kinds that are handled
   * @param background runs what must not hold up watches
   * @param later runs a task after a delay
   */
  record Dependencies(
      KubernetesClient client,
      InformerCaches informerCaches,
      JobOptions rules,
      OwnerChainResolver ownerChainResolver,
      IntegrationRegistry jobs,
      StatefulSetWorkloads statefulSetWorkloads,
      JobReconciler.Dependencies around,
      Executor background,
      BiConsumer<Duration, Runnable> later,
      Leadership leadership) {}

  /** Not started; {@code directory} is kept up to date. */
  PodIntegrationModule(
      OptionsFactory optionsFactory, PodIndex directory, Dependencies dependencies) {
    this.pods =
        optionsFactory.managesPods()
            ? Optional.of(pods(directory, dependencies))
            : Optional.empty();
    this.sets =
        optionsFactory.manages("statefulset")
            ? Optional.of(sets(directory, dependencies))
            : Optional.empty();
  }

  private static PodController pods(PodIndex directory, Dependencies dependencies) {
    JobReconciler.Dependencies around = dependencies.around();
    around
        .workloads()
        .listen(
            new AdmissionCheckEvents(
                SinglePod.KIND, around.events(), dependencies.leadership()::leading));
    RemoteExecutionLookup elsewhere = new RemoteExecutionLookup(dependencies.informerCaches());
    return new PodController(
        dependencies.client(),
        directory,
        new JobReconciler(
            new SinglePod(),
            dependencies.rules(),
            dependencies.ownerChainResolver(),
            elsewhere,
            around,
            WRITES_AT_A_TIME),
        new PodGroupReconciler(
            directory,
            dependencies.rules(),
            dependencies.ownerChainResolver(),
            elsewhere,
            around,
            WRITES_AT_A_TIME),
        around,
        dependencies.background(),
        dependencies.later(),
        dependencies.leadership()::leading);
  }

  private static StatefulSetController sets(PodIndex directory, Dependencies dependencies) {
    return new StatefulSetController(
        dependencies.client(),
        new StatefulSetReconciler(
            dependencies.rules(),
            dependencies.ownerChainResolver(),
            new RemoteExecutionLookup(dependencies.informerCaches()),
            dependencies.statefulSetWorkloads(),
            dependencies.around(),
            WRITES_AT_A_TIME),
        directory,
        dependencies.jobs(),
        dependencies.around(),
        dependencies.background(),
        dependencies.later(),
        dependencies.leadership()::leading);
  }

  /** Starts watching; returns when all there is is known, or fails when that isn't in time. */
  void start(CacheSyncWaiter cacheSyncWaiter) throws IOException {
    if (pods.isPresent()) {
      cacheSyncWaiter.await("pods", pods.get().start());
    }
    if (sets.isPresent()) {
      cacheSyncWaiter.await("StatefulSets", sets.get().start());
    }
  }

  /** This process leads from now on. */
  void leadershipStarted() {
    pods.ifPresent(PodController::leadershipStarted);
    sets.ifPresent(StatefulSetController::leadershipStarted);
  }

  @Override
  public void close() {
    pods.ifPresent(PodController::close);
    sets.ifPresent(StatefulSetController::close);
  }
}
