package dev.sluice.jobs.statefulset;

import dev.sluice.jobs.CachedJob;
import dev.sluice.jobs.JobAction;
import dev.sluice.jobs.JobControllerContext;
import dev.sluice.jobs.JobExecutor;
import dev.sluice.jobs.JobPatch;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.jobs.ManagementStatus;
import dev.sluice.jobs.OwnerChainResolver;
import dev.sluice.jobs.ReconcileContext;
import dev.sluice.jobs.RemoteExecutionCheck;
import dev.sluice.jobs.pod.CachedPod;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ConflictBackoff;
import dev.sluice.kube.client.Futures;
import dev.sluice.workload.CachedWorkload;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reconciles a StatefulSet and its pods: decides from the caches, and carries the decision out. It
 * may be called by several threads, but for one StatefulSet by one thread at a time.
 */
final class StatefulSetReconciler {

  private static final Logger LOG = LoggerFactory.getLogger(StatefulSetReconciler.class);
  private static final Duration UNTIL_SEEN = Duration.ofSeconds(1);
  private static final Duration LATER = Duration.ofSeconds(30);

  private final StatefulSetPolicy policy;
  private final boolean identifierAnnotations;
  private final JobExecutor executor;
  private final OwnerChainResolver ownerChainResolver;
  private final RemoteExecutionCheck remoteExecutionCheck;
  private final StatefulSetWorkloads workloads;
  private final JobReconciler.Dependencies dependencies;
  private final Semaphore writers;
  private final ConflictBackoff<String> conflicts = new ConflictBackoff<>();

  /** A reconciler of all StatefulSets. */
  StatefulSetReconciler(JobControllerContext context) {
    this.dependencies = context.dependencies();
    this.policy = new StatefulSetPolicy(context.options());
    this.identifierAnnotations = context.options().identifierAnnotations();
    this.executor = new JobExecutor(new StatefulSets(), dependencies);
    this.ownerChainResolver = context.ownerChainResolver();
    this.remoteExecutionCheck = context.gatedCheck();
    this.workloads =
        new StatefulSetWorkloads(
            dependencies.workloads().store(), context.options().longestWorkloadName());
    this.writers = new Semaphore(JobControllerContext.WRITES_AT_A_TIME);
  }

  /** The name of the Workload of a set. */
  String workloadOf(CachedStatefulSet set) {
    String sent = set.isSent() ? set.job().prebuiltWorkload() : "";
    return sent.isEmpty()
        ? workloads.nameInUse(
            set.job().ref().namespace(), set.job().ref().name(), set.uidOfOrigin())
        : sent;
  }

  /**
   * Does what the set and its pods need now.
   *
   * @param pods the gated pods of the set; pods of others may be among them
   * @return the delay after which to reconcile again even without an event; empty if an event will
   *     follow
   */
  Optional<Duration> reconcile(CachedStatefulSet set, List<CachedPod> pods)
      throws InterruptedException {
    if (executor.unseen(set.job())) {
      return Optional.of(UNTIL_SEEN);
    }
    Optional<Duration> again = workload(set);
    return again.isPresent() ? again : pods(set, pods);
  }

  /** Forgets a set that is deleted. */
  void forget(CachedStatefulSet set) {
    executor.forget(set.job().ref());
  }

  private Optional<Duration> workload(CachedStatefulSet set) throws InterruptedException {
    List<JobAction> actions = decide(set);
    if (actions.isEmpty()) {
      return Optional.empty();
    }
    writers.acquire();
    try {
      if (actions.getFirst() instanceof JobAction.DeleteWorkload) {
        Futures.forResult(
            dependencies.workloads().refresh(set.job().ref().namespace(), workloadOf(set)));
        actions = decide(set);
      }
      return executor.execute(set.job(), actions);
    } finally {
      writers.release();
    }
  }

  private List<JobAction> decide(CachedStatefulSet set) {
    String name = workloadOf(set);
    ReconcileContext reconcileContext =
        new ReconcileContext(
            set.job(),
            ownerChainResolver.status(set.job()),
            List.of(),
            find(set, name),
            dependencies.flavors(),
            dependencies.priorities(),
            dependencies.clock().instant());
    return policy.decide(set, reconcileContext, name);
  }

  private Optional<CachedWorkload> find(CachedStatefulSet set, String name) {
    return workloads.store().get(set.job().ref().namespace(), name);
  }

  private Optional<Duration> pods(CachedStatefulSet set, List<CachedPod> pods)
      throws InterruptedException {
    if (!(ownerChainResolver.status(set.job()) instanceof ManagementStatus.Own)) {
      return Optional.empty();
    }
    String name = workloadOf(set);
    Optional<CachedWorkload> workload = find(set, name);
    boolean waitsHere =
        workload
            .filter(it -> !it.admitted() && !remoteExecutionCheck.runs(set.job(), it))
            .isPresent();
    String role = workload.flatMap(StatefulSetWorkloads::podSet).orElse(StatefulSets.POD_SET);
    CachedStatefulSet admitted =
        workload
            .filter(CachedWorkload::quotaReserved)
            .map(it -> set.limitedTo(StatefulSetWorkloads.count(it)))
            .orElse(set);
    Optional<Duration> again = Optional.empty();
    for (CachedPod pod : pods) {
      Optional<JobPatch> patch =
          StatefulSetPods.isOf(set, pod)
              ? StatefulSetPods.needed(admitted, name, role, waitsHere, identifierAnnotations, pod)
              : Optional.empty();
      if (patch.isPresent()) {
        again = earliest(again, write(set, pod.job(), patch.get()));
      }
    }
    return again;
  }

  private static Optional<Duration> earliest(Optional<Duration> one, Optional<Duration> other) {
    return one.isPresent() && (other.isEmpty() || one.get().compareTo(other.get()) <= 0)
        ? one
        : other;
  }

  private Optional<Duration> write(CachedStatefulSet set, CachedJob pod, JobPatch patch)
      throws InterruptedException {
    writers.acquire();
    try {
      return switch (Futures.forResult(
          dependencies.objects().patch(pod.ref(), pod.version(), patch))) {
        case ApiOutcome.Written written -> {
          conflicts.reset(pod.ref().uid());
          LOG.info("job=\"{}\" pod={} joins its group or leaves it", set.job().ref(), pod.ref());
          yield Optional.empty();
        }
        case ApiOutcome.Conflict conflict -> Optional.of(conflicts.next(pod.ref().uid()));
        case ApiOutcome.Gone gone -> {
          conflicts.reset(pod.ref().uid());
          yield Optional.empty();
        }
        case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
        case ApiOutcome.Refused refused -> {
          LOG.warn(
              "job=\"{}\" pod={} not written, reason=\"{}\"",
              set.job().ref(),
              pod.ref(),
              refused.message());
          dependencies
              .events()
              .warning(pod.ref(), "WriteRefused", "Not written: " + refused.message());
          yield Optional.of(LATER);
        }
      };
    } finally {
      writers.release();
    }
  }
}
