package dev.sluice.jobs.pod;

import dev.sluice.jobs.CachedJob;
import dev.sluice.jobs.JobAction;
import dev.sluice.jobs.JobExecutor;
import dev.sluice.jobs.JobOptions;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.jobs.JobRef;
import dev.sluice.jobs.ManagementStatus;
import dev.sluice.jobs.OwnerChainResolver;
import dev.sluice.jobs.RemoteExecutionCheck;
import dev.sluice.kube.client.Futures;
import dev.sluice.workload.CachedWorkload;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/**
 * Brings one group of pods at a time to where it should be: looks, decides, acts. For one group it
 * must not be called by two threads at once; for different groups it may.
 */
public final class PodGroupReconciler {

  private static final Duration UNTIL_SEEN = Duration.ofSeconds(1);

  private final PodIndex directory;
  private final PodGroupPolicy decisions;
  private final JobExecutor executor;
  private final OwnerChainResolver ownerChainResolver;
  private final RemoteExecutionCheck remoteExecutionCheck;
  private final JobReconciler.Dependencies around;
  private final Semaphore writers;

  /**
   * For the groups of a directory.
   *
   * @param elsewhere which of them run in other clusters
   * @param writers how many groups may be written at a time
   */
  public PodGroupReconciler(
      PodIndex directory,
      JobOptions rules,
      OwnerChainResolver ownerChainResolver,
      RemoteExecutionCheck remoteExecutionCheck,
      JobReconciler.Dependencies around,
      int writers) {
    this.directory = directory;
    this.ownerChainResolver = ownerChainResolver;
    this.remoteExecutionCheck = remoteExecutionCheck;
    this.around = around;
    this.decisions = new PodGroupPolicy(rules);
    this.executor = new JobExecutor(new SinglePod(), around);
    this.writers = new Semaphore(writers);
  }

  /**
   * Does what a group needs now.
   *
   * @return after what time to look again even if nothing happens; empty if something will
   * @throws InterruptedException if the thread is asked to stop
   */
  Optional<Duration> reconcile(String namespace, String name) throws InterruptedException {
    List<CachedPod> pods = directory.group(namespace, name);
    if (pods.stream().anyMatch(pod -> executor.unseen(pod.job()))) {
      return Optional.of(UNTIL_SEEN);
    }
    List<PodGroupAction> steps = decide(namespace, name);
    if (steps.isEmpty()) {
      return Optional.empty();
    }
    writers.acquire();
    try {
      if (takesAway(steps)) {
        Futures.forResult(around.workloads().refresh(namespace, name));
        return execute(decide(namespace, name));
      }
      return execute(steps);
    } finally {
      writers.release();
    }
  }

  /** A pod is gone. */
  void forget(JobRef pod) {
    executor.forget(pod);
  }

  private List<PodGroupAction> decide(String namespace, String name) {
    Instant now = around.clock().instant();
    PodGroup group = new PodGroup(namespace, name, directory.group(namespace, name), now);
    CachedJob job = group.asJob();
    Optional<CachedWorkload> workload = around.workloads().store().get(namespace, name);
    return decisions.decide(
        new PodGroupContext(
            group,
            group.pods().isEmpty() ? new ManagementStatus.Own() : ownerChainResolver.status(job),
            workload,
            workload.filter(found -> remoteExecutionCheck.runs(job, found)).isPresent(),
            around.flavors(),
            around.priorities(),
            now));
  }

  /** What stops pods or throws them away is decided again by what the API server knows now. */
  private static boolean takesAway(List<PodGroupAction> steps) {
    return steps.stream()
        .map(PodGroupAction::action)
        .anyMatch(
            action -> action instanceof JobAction.Stop || action instanceof JobAction.DeleteJob);
  }

  private Optional<Duration> execute(List<PodGroupAction> steps) throws InterruptedException {
    for (PodGroupAction step : steps) {
      Optional<Duration> again = executor.execute(step.subject(), List.of(step.action()));
      if (again.isPresent()) {
        return again;
      }
    }
    return Optional.empty();
  }
}
