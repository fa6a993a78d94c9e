package dev.sluice.jobs.kinds.leaderworkerset;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.controller.JobControllerContext;
import dev.sluice.jobs.controller.JobExecutor;
import dev.sluice.jobs.controller.JobReconciler;
import dev.sluice.jobs.controller.OwnerChainResolver;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kinds.pod.CachedPod;
import dev.sluice.jobs.kinds.pod.GroupMembership;
import dev.sluice.jobs.kinds.pod.GroupedPodWriter;
import dev.sluice.jobs.kinds.statefulset.StatefulSets;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.ManagementStatus;
import dev.sluice.jobs.policy.ReconcileContext;
import dev.sluice.jobs.policy.RemoteExecutionCheck;
import dev.sluice.kube.client.Futures;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * Reconciles a LeaderWorkerSet and its pods: decides from the caches, and carries the decision out.
 * It may be called by several threads, but for one LeaderWorkerSet by one thread at a time.
 */
final class LeaderWorkerSetReconciler {

  private static final Duration UNTIL_SEEN = Duration.ofSeconds(1);

  private final LeaderWorkerSetPolicy policy;
  private final boolean identifierAnnotations;
  private final JobExecutor executor;
  private final OwnerChainResolver ownerChainResolver;
  private final RemoteExecutionCheck remoteExecutionCheck;
  private final JobReconciler.Dependencies dependencies;
  private final Semaphore writers = new Semaphore(JobControllerContext.WRITES_AT_A_TIME);
  private final GroupedPodWriter podWriter;

  /** A reconciler of all LeaderWorkerSets. */
  LeaderWorkerSetReconciler(JobControllerContext context) {
    this.dependencies = context.dependencies();
    this.policy = new LeaderWorkerSetPolicy(context.options());
    this.identifierAnnotations = context.options().identifierAnnotations();
    this.executor = new JobExecutor(new LeaderWorkerSets(), dependencies);
    this.ownerChainResolver = context.ownerChainResolver();
    this.remoteExecutionCheck = context.gatedCheck();
    this.podWriter = new GroupedPodWriter(dependencies, writers);
  }

  /** The name of the Workload of a group. */
  String nameOf(CachedLeaderWorkerSet set, int group) {
    return policy.nameOf(set, group);
  }

  /**
   * Does what the set and its pods need now.
   *
   * @param pods the pods of the set as far as they are managed or gated; pods of others may be
   *     among them
   * @param own the Workloads that name the set as their job
   * @return the delay after which to reconcile again even without an event; empty if an event will
   *     follow
   */
  Optional<Duration> reconcile(
      CachedLeaderWorkerSet set, List<CachedPod> pods, Supplier<List<CachedWorkload>> own)
      throws InterruptedException {
    if (executor.unseen(set.job())) {
      return Optional.of(UNTIL_SEEN);
    }
    List<JobAction> actions = decide(set, own);
    if (!actions.isEmpty()) {
      Optional<Duration> again = workloads(set, actions);
      // What the pods are told depends on the Workloads as they were left by the write.
      if (again.isPresent() || actions.stream().anyMatch(it -> !(it instanceof JobAction.Warn))) {
        return again.or(() -> Optional.of(UNTIL_SEEN));
      }
    }
    return ownerChainResolver.status(set.job()) instanceof ManagementStatus.Own
        ? pods(set, pods)
        : Optional.empty();
  }

  /** Forgets a set that is deleted. */
  void forget(CachedLeaderWorkerSet set) {
    executor.forget(set.job().ref());
  }

  private List<JobAction> decide(CachedLeaderWorkerSet set, Supplier<List<CachedWorkload>> own) {
    ReconcileContext context =
        new ReconcileContext(
            set.job(),
            ownerChainResolver.status(set.job()),
            List.of(),
            Optional.empty(),
            dependencies.flavors(),
            dependencies.priorities(),
            dependencies.clock().instant());
    return policy.decide(set, context, own.get(), name -> find(set, name));
  }

  private Optional<CachedWorkload> find(CachedLeaderWorkerSet set, String name) {
    return dependencies.workloads().store().get(set.job().ref().namespace(), name);
  }

  private Optional<Duration> workloads(CachedLeaderWorkerSet set, List<JobAction> actions)
      throws InterruptedException {
    writers.acquire();
    try {
      return actions.getFirst() instanceof JobAction.DeleteWorkload && isOutdated(set)
          ? Optional.of(UNTIL_SEEN)
          : executor.execute(set.job(), actions);
    } finally {
      writers.release();
    }
  }

  /** Whether the API server has another version of the set; deletions are decided by the newest. */
  private boolean isOutdated(CachedLeaderWorkerSet set) throws InterruptedException {
    JobRef ref = set.job().ref();
    Optional<ObjectNode> now =
        Futures.forResult(
            dependencies.objects().read(ref.kind().path(ref.namespace(), ref.name())));
    return now.map(new LeaderWorkerSets()::view)
        .filter(it -> it.job().ref().uid().equals(ref.uid()) && it.groups() == set.groups())
        .isEmpty();
  }

  /** Adds gated pods to the groups of their Workloads. */
  private Optional<Duration> pods(CachedLeaderWorkerSet set, List<CachedPod> pods)
      throws InterruptedException {
    List<CachedPod> waiting =
        pods.stream().filter(pod -> pod.gated() && !pod.job().deleting() && !pod.ended()).toList();
    String updateRevision = waiting.isEmpty() ? "" : updateRevision(set, pods);
    List<Duration> again = new ArrayList<>();
    for (CachedPod pod : waiting) {
      Optional<GroupPlace> place = GroupPlace.of(set, pod);
      if (place.filter(it -> it.group() < set.groups()).isPresent()) {
        pod(set, pod, place.get(), updateRevision).ifPresent(again::add);
      }
    }
    return again.stream().min(Comparator.naturalOrder());
  }

  private Optional<Duration> pod(
      CachedLeaderWorkerSet set, CachedPod pod, GroupPlace place, String updateRevision)
      throws InterruptedException {
    String name = nameOf(set, place.group());
    if (GroupMembership.isInAnotherGroup(name, pod)) {
      return podWriter.delete(set.job().ref(), pod.job());
    }
    boolean waits =
        find(set, name)
            .filter(it -> !it.admitted() && !remoteExecutionCheck.runs(set.job(), it))
            .isPresent();
    Optional<JobPatch> patch =
        place.needed(set, pod, name, waits ? updateRevision : "", identifierAnnotations);
    return patch.isEmpty()
        ? Optional.empty()
        : podWriter.patch(set.job().ref(), pod.job(), patch.get());
  }

  /**
   * The revision to which a rollout brings the pods, as the StatefulSet of the leaders tells it;
   * empty while all pods are of one revision, so that the API server need not be asked.
   */
  private String updateRevision(CachedLeaderWorkerSet set, List<CachedPod> pods)
      throws InterruptedException {
    long revisions =
        pods.stream().map(pod -> GroupPlace.revision(pod.job().labels())).distinct().count();
    if (revisions < 2) {
      return "";
    }
    JobRef ref = set.job().ref();
    return Futures.forResult(
            dependencies.objects().read(StatefulSets.KIND.path(ref.namespace(), ref.name())))
        .map(JsonFields::labels)
        .map(GroupPlace::revision)
        .orElse("");
  }
}
