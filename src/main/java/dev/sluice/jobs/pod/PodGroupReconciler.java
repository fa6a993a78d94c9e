package dev.sluice.jobs.pod;

import dev.sluice.jobs.CachedJob;
import dev.sluice.jobs.JobAction;
import dev.sluice.jobs.JobControllerContext;
import dev.sluice.jobs.JobExecutor;
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
 * Reconciles a group of pods: reads its pods and its Workload, decides, and carries the decision
 * out. It may be called by several threads, but for one group by one thread at a time.
 */
final class PodGroupReconciler {

  private static final Duration UNTIL_SEEN = Duration.ofSeconds(1);

  private final PodIndex index;
  private final PodGroupPolicy policy;
  private final JobExecutor executor;
  private final OwnerChainResolver ownerChainResolver;
  private final RemoteExecutionCheck remoteExecutionCheck;
  private final JobReconciler.Dependencies dependencies;
  private final Semaphore writers;

  /** A reconciler of the groups of the pods in {@code index}. */
  PodGroupReconciler(PodIndex index, JobControllerContext context) {
    this.index = index;
    this.ownerChainResolver = context.ownerChainResolver();
    this.remoteExecutionCheck = context.gatedCheck();
    this.dependencies = context.dependencies();
    this.policy = new PodGroupPolicy(context.options());
    this.executor = new JobExecutor(new SinglePod(), dependencies);
    this.writers = new Semaphore(JobControllerContext.WRITES_AT_A_TIME);
  }

  /**
   * Does what a group needs now.
   *
   * @return the delay after which to reconcile again even without an event; empty if an event will
   *     follow
   * @throws InterruptedException if the thread is asked to stop
   */
  Optional<Duration> reconcile(String namespace, String name) throws InterruptedException {
    List<CachedPod> pods = index.group(namespace, name);
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
        Futures.forResult(dependencies.workloads().refresh(namespace, name));
        return execute(decide(namespace, name));
      }
      return execute(steps);
    } finally {
      writers.release();
    }
  }

  /** Forgets a pod that is deleted. */
  void forget(JobRef pod) {
    executor.forget(pod);
  }

  private List<PodGroupAction> decide(String namespace, String name) {
    Instant now = dependencies.clock().instant();
    PodGroup group = new PodGroup(namespace, name, index.group(namespace, name), now);
    CachedJob job = group.asJob();
    Optional<CachedWorkload> workload = dependencies.workloads().store().get(namespace, name);
    return policy.decide(
        new PodGroupContext(
            group,
            group.pods().isEmpty() ? new ManagementStatus.Own() : ownerChainResolver.status(job),
            workload,
            workload.filter(found -> remoteExecutionCheck.runs(job, found)).isPresent(),
            dependencies.flavors(),
            dependencies.priorities(),
            now));
  }

  /** Whether steps stop or delete pods; such steps are decided again from fresh data. */
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
