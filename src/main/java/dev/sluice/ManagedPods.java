package dev.sluice;

import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.world.RemoteRuns;
import dev.sluice.controllers.world.World;
import dev.sluice.jobs.Ancestry;
import dev.sluice.jobs.CheckMessages;
import dev.sluice.jobs.JobDirectory;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.jobs.JobRules;
import dev.sluice.jobs.pods.GroupReconciler;
import dev.sluice.jobs.pods.PodController;
import dev.sluice.jobs.pods.PodDirectory;
import dev.sluice.jobs.pods.SinglePod;
import dev.sluice.jobs.statefulset.SetController;
import dev.sluice.jobs.statefulset.SetReconciler;
import dev.sluice.jobs.statefulset.SetWorkloads;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;

/** What handles pods, and what makes pods: as far as the configuration asks for it. */
final class ManagedPods implements AutoCloseable {

  private static final int WRITES_AT_A_TIME = 16;

  private final Optional<PodController> pods;
  private final Optional<SetController> sets;

  /**
   * What they work with.
   *
   * @param jobs the kinds that are handled
   * @param background runs what must not hold up watches
   * @param later runs a task after a delay
   */
  record Parts(
      KubernetesClient client,
      World world,
      JobRules rules,
      Ancestry ancestry,
      JobDirectory jobs,
      SetWorkloads setWorkloads,
      JobReconciler.Surroundings around,
      Executor background,
      BiConsumer<Duration, Runnable> later,
      Leadership leadership) {}

  /** Not started; {@code directory} is kept up to date. */
  ManagedPods(Rules rules, PodDirectory directory, Parts parts) {
    this.pods = rules.managesPods() ? Optional.of(pods(directory, parts)) : Optional.empty();
    this.sets =
        rules.manages("statefulset") ? Optional.of(sets(directory, parts)) : Optional.empty();
  }

  private static PodController pods(PodDirectory directory, Parts parts) {
    JobReconciler.Surroundings around = parts.around();
    around
        .workloads()
        .listen(new CheckMessages(SinglePod.KIND, around.events(), parts.leadership()::leading));
    RemoteRuns elsewhere = new RemoteRuns(parts.world());
    return new PodController(
        parts.client(),
        directory,
        new JobReconciler(
            new SinglePod(), parts.rules(), parts.ancestry(), elsewhere, around, WRITES_AT_A_TIME),
        new GroupReconciler(
            directory, parts.rules(), parts.ancestry(), elsewhere, around, WRITES_AT_A_TIME),
        around,
        parts.background(),
        parts.later(),
        parts.leadership()::leading);
  }

  private static SetController sets(PodDirectory directory, Parts parts) {
    return new SetController(
        parts.client(),
        new SetReconciler(
            parts.rules(),
            parts.ancestry(),
            new RemoteRuns(parts.world()),
            parts.setWorkloads(),
            parts.around(),
            WRITES_AT_A_TIME),
        directory,
        parts.jobs(),
        parts.around(),
        parts.background(),
        parts.later(),
        parts.leadership()::leading);
  }

  /** Starts watching; returns when all there is is known, or fails when that isn't in time. */
  void start(Listings listings) throws IOException {
    if (pods.isPresent()) {
      listings.await("pods", pods.get().start());
    }
    if (sets.isPresent()) {
      listings.await("StatefulSets", sets.get().start());
    }
  }

  /** This process leads from now on. */
  void leadershipStarted() {
    pods.ifPresent(PodController::leadershipStarted);
    sets.ifPresent(SetController::leadershipStarted);
  }

  @Override
  public void close() {
    pods.ifPresent(PodController::close);
    sets.ifPresent(SetController::close);
  }
}
