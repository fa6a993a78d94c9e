package dev.sluice.jobs.kinds.pod;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.controller.JobControllerContext;
import dev.sluice.jobs.controller.JobExecutor;
import dev.sluice.jobs.controller.JobReconciler;
import dev.sluice.jobs.controller.OwnerChainResolver;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.ManagementStatus;
import dev.sluice.jobs.policy.RemoteExecutionCheck;
import dev.sluice.kube.client.Futures;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;

/**
 * Reconciles a group of pods: reads its pods and its Workload, decides, and carries the decision
 * out. It may be called by several threads, but for one group by one thread at a time.
 */
final class PodGroupReconciler {

  private static final Duration UNTIL_SEEN = Duration.ofSeconds(1);

  private final PodIndex index;
  private final PodGroupPolicy policy;
  private final boolean releasesFast;
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
    this.releasesFast = context.options().on(FeatureGate.FAST_QUOTA_RELEASE_IN_POD_INTEGRATION);
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
    if (unseen(namespace, name)) {
      return Optional.of(UNTIL_SEEN);
    }
    List<PodGroupAction> steps = decide(namespace, name, Set.of());
    if (steps.isEmpty()) {
      return Optional.empty();
    }
    writers.acquire();
    try {
      if (takesAway(steps)) {
        Futures.forResult(dependencies.workloads().refresh(namespace, name));
        steps = decide(namespace, name, Set.of());
      }
      Map<String, Duration> failed = execute(steps);
      if (!failed.isEmpty() && !unseen(namespace, name)) {
        execute(decide(namespace, name, Set.copyOf(failed.keySet())), failed);
      }
      return failed.values().stream().min(Comparator.naturalOrder());
    } finally {
      writers.release();
    }
  }

  /** Whether the cache lacks what was written to a pod of the group. */
  private boolean unseen(String namespace, String name) {
    return index.group(namespace, name).stream().anyMatch(pod -> executor.unseen(pod.job()));
  }

  /** Forgets a pod that is deleted. */
  void forget(JobRef ref) {
    executor.forget(ref);
  }

  private List<PodGroupAction> decide(String namespace, String name, Set<String> unwritable) {
    Instant now = dependencies.clock().instant();
    PodGroup group =
        new PodGroup(
            namespace, name, index.group(namespace, name), now, index::isReplaced, releasesFast);
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
            now,
            unwritable));
  }

  /** Whether steps stop or delete pods; such steps are decided again from fresh data. */
  private static boolean takesAway(List<PodGroupAction> steps) {
    return steps.stream()
        .map(PodGroupAction::action)
        .anyMatch(
            action -> action instanceof JobAction.Stop || action instanceof JobAction.DeleteJob);
  }

  private Map<String, Duration> execute(List<PodGroupAction> steps) throws InterruptedException {
    Map<String, Duration> failed = new LinkedHashMap<>();
    execute(steps, failed);
    return failed;
  }

  /**
   * Carries out steps in order. A step that doesn't succeed ends the steps of its target only.
   *
   * @param failed the targets that have failed, and the delays after which to try again; steps of
   *     these are left out, and further ones are added
   */
  private void execute(List<PodGroupAction> steps, Map<String, Duration> failed)
      throws InterruptedException {
    for (PodGroupAction step : steps) {
      if (!failed.containsKey(step.target())) {
        executor
            .execute(step.subject(), List.of(step.action()))
            .ifPresent(again -> failed.put(step.target(), again));
      }
    }
  }
}
