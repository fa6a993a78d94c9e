package dev.sluice.jobs.kinds.statefulset;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.controller.GroupWorkloads;
import dev.sluice.jobs.controller.JobControllerContext;
import dev.sluice.jobs.controller.JobExecutor;
import dev.sluice.jobs.controller.JobReconciler;
import dev.sluice.jobs.controller.OwnerChainResolver;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kinds.pod.CachedPod;
import dev.sluice.jobs.kinds.pod.GatedSetController;
import dev.sluice.jobs.kinds.pod.GatedSetController.GatedSetHandler;
import dev.sluice.jobs.kinds.pod.GroupMembership;
import dev.sluice.jobs.kinds.pod.GroupedPodWriter;
import dev.sluice.jobs.kinds.pod.PodIndex;
import dev.sluice.jobs.kinds.pod.SinglePod;
import dev.sluice.jobs.kinds.statefulset.StatefulSetPolicy.ReplicaRange;
import dev.sluice.jobs.kinds.statefulset.StatefulSetPolicy.ReplicaRanges;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.jobs.policy.ReconcileContext;
import dev.sluice.jobs.policy.RemoteExecutionCheck;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.BiPredicate;
import java.util.function.Supplier;

/** The controller of StatefulSets. */
public final class StatefulSetController extends GatedSetController<CachedStatefulSet> {

  /**
   * A controller that is not started. It listens to the Workload reader.
   *
   * @param marked the index of the managed pods
   */
  public StatefulSetController(PodIndex marked, JobControllerContext context) {
    super(
        marked, context, new StatefulSets()::view, new Handler(new StatefulSetReconciler(context)));
  }

  private record Handler(StatefulSetReconciler reconciler)
      implements GatedSetHandler<CachedStatefulSet> {

    @Override
    public JobKind kind() {
      return StatefulSets.KIND;
    }

    @Override
    public String ownerGvk() {
      return StatefulSetPolicy.OWNER_GVK;
    }

    @Override
    public Optional<String> setOf(CachedPod pod) {
      boolean heldBack =
          StatefulSets.KIND
              .framework()
              .equals(pod.job().annotations().get(KueueConstants.POD_SUSPENDING_PARENT));
      return pod.job()
          .controller()
          .filter(owner -> heldBack && StatefulSets.KIND.is(owner.apiVersion(), owner.kind()))
          .map(CachedJob.Controller::name);
    }

    @Override
    public List<CachedPod> members(CachedStatefulSet set, Set<String> workloads, PodIndex marked) {
      return List.copyOf(marked.controlledBy(set.job().ref().uid()));
    }

    @Override
    public boolean isReplaced(CachedStatefulSet set, CachedPod pod) {
      return StatefulSetPods.isReplaced(set, pod);
    }

    @Override
    public Optional<Duration> reconcile(
        CachedStatefulSet set, List<CachedPod> pods, Supplier<List<CachedWorkload>> own)
        throws InterruptedException {
      return reconciler.reconcile(set, pods, own);
    }

    @Override
    public void forget(CachedStatefulSet set) {
      reconciler.forget(set);
    }
  }

  /**
   * Reconciles a StatefulSet and its pods: decides from the caches, and carries the decision out.
   * It may be called by several threads, but for one StatefulSet by one thread at a time.
   */
  static final class StatefulSetReconciler {

    private static final Duration UNTIL_SEEN = Duration.ofSeconds(1);

    private final StatefulSetPolicy policy;
    private final boolean identifierAnnotations;
    private final BiPredicate<CachedJob, CachedWorkload> letsGo;
    private final JobExecutor executor;
    private final OwnerChainResolver ownerChainResolver;
    private final RemoteExecutionCheck remoteExecutionCheck;
    private final StatefulSetWorkloads workloads;
    private final JobReconciler.Dependencies dependencies;
    private final Semaphore writers;
    private final GroupedPodWriter podWriter;

    /** A reconciler of all StatefulSets. */
    StatefulSetReconciler(JobControllerContext context) {
      this.dependencies = context.dependencies();
      this.policy = new StatefulSetPolicy(context.options());
      this.identifierAnnotations =
          context.options().on(FeatureGate.WORKLOAD_IDENTIFIER_ANNOTATIONS);
      this.letsGo = context::letsGoForRollout;
      this.executor = new JobExecutor(new StatefulSets(), dependencies);
      this.ownerChainResolver = context.ownerChainResolver();
      this.remoteExecutionCheck = context.gatedCheck();
      this.workloads =
          new StatefulSetWorkloads(
              dependencies.workloads().store(), context.options().longestWorkloadName());
      this.writers = new Semaphore(JobControllerContext.WRITES_AT_A_TIME);
      this.podWriter = new GroupedPodWriter(dependencies, writers);
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
     * @param pods the pods of the set as far as they are managed or gated; pods of others may be
     *     among them
     * @param own the Workloads that name the set as their job
     * @return the delay after which to reconcile again even without an event; empty if an event
     *     will follow
     */
    Optional<Duration> reconcile(
        CachedStatefulSet set, List<CachedPod> pods, Supplier<List<CachedWorkload>> own)
        throws InterruptedException {
      if (executor.unseen(set.job())) {
        return Optional.of(UNTIL_SEEN);
      }
      List<CachedPod> ofSet = pods.stream().filter(pod -> StatefulSetPods.isOf(set, pod)).toList();
      List<JobAction> actions = decide(set, ofSet, own);
      Optional<Duration> again =
          actions.isEmpty() ? Optional.empty() : workload(set, ofSet, own, actions);
      // What the pods are told depends on the Workloads as they were left by the writes. One that
      // was refused left them as they are, and the pods of the other Workloads go on.
      return executor.unseen(set.job())
          ? Optional.of(UNTIL_SEEN)
          : WorkQueue.earliest(again, pods(set, ofSet, own.get()));
    }

    /** Forgets a set that is deleted. */
    void forget(CachedStatefulSet set) {
      executor.forget(set.job().ref());
    }

    private Optional<Duration> workload(
        CachedStatefulSet set,
        List<CachedPod> pods,
        Supplier<List<CachedWorkload>> own,
        List<JobAction> decided)
        throws InterruptedException {
      writers.acquire();
      try {
        List<JobAction> actions = decided;
        String namespace = set.job().ref().namespace();
        if (actions.getFirst() instanceof JobAction.DeleteWorkload delete) {
          String name = workloadOf(set);
          Futures.forResult(dependencies.workloads().refresh(namespace, name));
          String deleted = delete.workload().id().name();
          if (!deleted.equals(name)) {
            Futures.forResult(dependencies.workloads().refresh(namespace, deleted));
          }
          actions = decide(set, pods, own);
        }
        if (actions.stream().anyMatch(StatefulSetReconciler::givesBack)
            && isThere(set, ranges(set, pods, own.get()).end())) {
          return Optional.of(UNTIL_SEEN);
        }
        return executor.execute(set.job(), actions);
      } finally {
        writers.release();
      }
    }

    private static boolean givesBack(JobAction action) {
      return action instanceof JobAction.PatchStatus patch
          && (!patch.status().path("reclaimablePods").isEmpty()
              || (patch.workload().quotaReserved() && patch.releasesQuota()));
    }

    /**
     * Whether the API server has a pod of the set beyond its replicas. The caches don't tell for
     * sure: a pod that has just got its label may be in none of them.
     */
    private boolean isThere(CachedStatefulSet set, int end) throws InterruptedException {
      JobRef ref = set.job().ref();
      for (int place = set.replicas(); place < end; place++) {
        String name = ref.name() + "-" + (set.firstIndex() + place);
        Optional<ObjectNode> found =
            Futures.forResult(
                dependencies.objects().read(SinglePod.KIND.path(ref.namespace(), name)));
        if (found.filter(pod -> isOf(ref, pod)).isPresent()) {
          return true;
        }
      }
      return false;
    }

    /** Whether a pod with the name of one of the set is the set's, and hasn't ended. */
    private static boolean isOf(JobRef ref, ObjectNode pod) {
      String phase = pod.path("status").path("phase").asText();
      return CachedJobParser.controller(pod.path("metadata"))
              .filter(owner -> owner.uid().equals(ref.uid()))
              .isPresent()
          && !phase.equals("Succeeded")
          && !phase.equals("Failed");
    }

    private List<JobAction> decide(
        CachedStatefulSet set, List<CachedPod> pods, Supplier<List<CachedWorkload>> own) {
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
      return policy.decide(set, reconcileContext, name, ranges(set, pods, own.get()));
    }

    private Optional<CachedWorkload> find(CachedStatefulSet set, String name) {
      return workloads.store().get(set.job().ref().namespace(), name);
    }

    private ReplicaRanges ranges(
        CachedStatefulSet set, List<CachedPod> pods, List<CachedWorkload> own) {
      Optional<CachedWorkload> base = find(set, workloadOf(set));
      List<ReplicaRange> list = base.map(it -> workloads.ranges(set, it)).orElse(List.of());
      List<CachedWorkload> superfluous =
          own.stream()
              .filter(it -> StatefulSetWorkloads.isForAddedReplicas(set, it) && !it.deleting())
              .filter(it -> list.stream().noneMatch(range -> range.workload().id().equals(it.id())))
              .toList();
      int end = list.isEmpty() ? 0 : list.getLast().end();
      return new ReplicaRanges(
          list,
          superfluous,
          workloads.nameFrom(set, end),
          base.filter(it -> remoteExecutionCheck.runs(set.job(), it)).isPresent(),
          pods.stream().mapToInt(pod -> set.place(StatefulSetPods.index(pod)) + 1).max().orElse(0));
    }

    private Optional<Duration> pods(
        CachedStatefulSet set, List<CachedPod> pods, List<CachedWorkload> own)
        throws InterruptedException {
      if (!(ownerChainResolver.status(set.job()) instanceof ManagementStatus.Own)) {
        return Optional.empty();
      }
      ReplicaRanges ranges = ranges(set, pods, own);
      Optional<Duration> again =
          ranges.awaitsPods(set) ? Optional.of(UNTIL_SEEN) : Optional.empty();
      for (CachedPod pod : pods) {
        again = WorkQueue.earliest(again, pod(set, ranges, pod));
      }
      return again;
    }

    /** Adds a gated pod to the group of its Workload. */
    private Optional<Duration> pod(CachedStatefulSet set, ReplicaRanges ranges, CachedPod pod)
        throws InterruptedException {
      int index = StatefulSetPods.index(pod);
      Optional<CachedWorkload> workload = ranges.find(set.place(index)).map(ReplicaRange::workload);
      boolean awaited = set.isSent() && ranges.list().isEmpty();
      if (!set.wants(index) || !GroupWorkloads.isJoinable(workload, set.job().ref(), awaited)) {
        return Optional.empty();
      }
      String name = workload.map(it -> it.id().name()).orElseGet(() -> workloadOf(set));
      if (GroupMembership.isInAnotherGroup(name, pod)) {
        return podWriter.delete(set.job().ref(), pod.job());
      }
      Optional<JobPatch> patch =
          StatefulSetPods.needed(
              set,
              StatefulSetPods.membership(
                  name,
                  workload.flatMap(StatefulSetWorkloads::podSet).orElse(StatefulSets.POD_SET),
                  workload.map(StatefulSetWorkloads::count).orElse(set.replicas()),
                  identifierAnnotations),
              workload.filter(it -> letsGo.test(set.job(), it)).isPresent(),
              pod);
      return patch.isEmpty()
          ? Optional.empty()
          : podWriter.patch(set.job().ref(), pod.job(), patch.get());
    }
  }

  /**
   * What the pods of a StatefulSet are told so that they make a group: a pure function. It concerns
   * them only as long as they wait at their gates.
   */
  static final class StatefulSetPods {

    private static final String REVISION = "controller-revision-hash";
    private static final Map<String, String> FURTHER =
        Map.of(
            KueueConstants.POD_GROUP_FAST_ADMISSION,
            "true",
            KueueConstants.POD_GROUP_POD_INDEX_LABEL,
            StatefulSets.INDEX_LABEL);

    private StatefulSetPods() {}

    /**
     * Whether this is a pod that the StatefulSet made and that is held back for it. The controller
     * of StatefulSets names pods by their place, so that no two pods have the same one.
     */
    static boolean isOf(CachedStatefulSet set, CachedPod pod) {
      return pod.name().equals(set.job().ref().name() + "-" + index(pod))
          && pod.job()
              .controller()
              .filter(owner -> owner.uid().equals(set.job().ref().uid()))
              .isPresent()
          && StatefulSets.KIND
              .framework()
              .equals(pod.job().annotations().get(KueueConstants.POD_SUSPENDING_PARENT));
    }

    /**
     * The write that a pod of the set needs; empty when it needs none.
     *
     * @param membership what makes the pod a member of the group, from {@link #membership}
     * @param waitsHere whether the Workload is not admitted, nothing of the set runs in another
     *     cluster, and pods may run for a moment without quota
     */
    static Optional<JobPatch> needed(
        CachedStatefulSet set, GroupMembership membership, boolean waitsHere, CachedPod pod) {
      int index = index(pod);
      if (!pod.gated() || pod.job().deleting() || pod.ended() || !set.wants(index)) {
        return Optional.empty();
      }
      return waitsHere && isReplaced(set, pod)
          ? Optional.of(membership.release(set.job(), pod))
          : membership.join(set.job(), pod);
    }

    /**
     * The membership of pods of a StatefulSet.
     *
     * @param workload name of the Workload that the pods belong to
     * @param role the pod set of that Workload
     * @param total the number of pods of that Workload
     * @param byAnnotation whether the Workload and the group are named by annotations, else by
     *     labels where the name is short enough
     */
    static GroupMembership membership(
        String workload, String role, int total, boolean byAnnotation) {
      return new GroupMembership(workload, role, total, FURTHER, byAnnotation);
    }

    /** Whether a rollout that is under way replaces a pod of the set, and waits for it to run. */
    static boolean isReplaced(CachedStatefulSet set, CachedPod pod) {
      return isOf(set, pod)
          && set.replaces(pod.job().labels().getOrDefault(REVISION, ""), index(pod));
    }

    /** The index of a pod: the number at the end of its name. */
    static int index(CachedPod pod) {
      try {
        return Integer.parseInt(pod.name().substring(pod.name().lastIndexOf('-') + 1));
      } catch (NumberFormatException notMadeByTheController) {
        return 0;
      }
    }
  }
}
