package dev.sluice.jobs.kinds.leaderworkerset;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.controller.GroupWorkloads;
import dev.sluice.jobs.controller.JobControllerContext;
import dev.sluice.jobs.controller.JobExecutor;
import dev.sluice.jobs.controller.JobReconciler;
import dev.sluice.jobs.controller.OwnerChainResolver;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kinds.leaderworkerset.LeaderWorkerSets.CachedLeaderWorkerSet;
import dev.sluice.jobs.kinds.pod.CachedPod;
import dev.sluice.jobs.kinds.pod.GatedSetController;
import dev.sluice.jobs.kinds.pod.GatedSetController.GatedSetHandler;
import dev.sluice.jobs.kinds.pod.GroupMembership;
import dev.sluice.jobs.kinds.pod.GroupedPodWriter;
import dev.sluice.jobs.kinds.pod.PodIndex;
import dev.sluice.jobs.kinds.statefulset.StatefulSets;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.JobAction.CreateWorkload;
import dev.sluice.jobs.policy.JobAction.DeleteWorkload;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.jobs.policy.ReconcileContext;
import dev.sluice.jobs.policy.WorkloadFactory;
import dev.sluice.jobs.policy.WorkloadFactory.PrioritySource;
import dev.sluice.jobs.policy.WorkloadFactory.WorkloadActions;
import dev.sluice.jobs.policy.WorkloadFactory.WorkloadNames;
import dev.sluice.jobs.policy.WorkloadStatuses;
import dev.sluice.jobs.policy.WorkloadSynchronizer;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Supplier;

/** The controller of LeaderWorkerSets. */
public final class LeaderWorkerSetController extends GatedSetController<CachedLeaderWorkerSet> {

  /**
   * A controller that is not started. It listens to the Workload reader.
   *
   * @param marked the index of the managed pods
   */
  public LeaderWorkerSetController(PodIndex marked, JobControllerContext context) {
    super(
        marked,
        context,
        new LeaderWorkerSets()::view,
        new Handler(new LeaderWorkerSetReconciler(context)));
  }

  private record Handler(LeaderWorkerSetReconciler reconciler)
      implements GatedSetHandler<CachedLeaderWorkerSet> {

    @Override
    public JobKind kind() {
      return LeaderWorkerSets.KIND;
    }

    @Override
    public String ownerGvk() {
      return LeaderWorkerSetPolicy.OWNER_GVK;
    }

    @Override
    public Optional<String> setOf(CachedPod pod) {
      return GroupPlace.setOf(pod);
    }

    /** By what exists: a set says how many groups it has, and may say a million. */
    @Override
    public List<CachedPod> members(
        CachedLeaderWorkerSet set, Set<String> workloads, PodIndex marked) {
      return workloads.stream()
          .flatMap(name -> marked.group(set.job().ref().namespace(), name).stream())
          .toList();
    }

    @Override
    public Optional<Duration> reconcile(
        CachedLeaderWorkerSet set, List<CachedPod> pods, Supplier<List<CachedWorkload>> own)
        throws InterruptedException {
      return reconciler.reconcile(set, pods, own);
    }

    @Override
    public void forget(CachedLeaderWorkerSet set) {
      reconciler.forget(set);
    }
  }

  /**
   * Reconciles a LeaderWorkerSet and its pods: decides from the caches, and carries the decision
   * out. It may be called by several threads, but for one LeaderWorkerSet by one thread at a time.
   */
  static final class LeaderWorkerSetReconciler {

    private static final Duration UNTIL_SEEN = Duration.ofSeconds(1);

    private final LeaderWorkerSetPolicy policy;
    private final boolean identifierAnnotations;
    private final BiPredicate<CachedJob, CachedWorkload> letsGo;
    private final JobExecutor executor;
    private final OwnerChainResolver ownerChainResolver;
    private final JobReconciler.Dependencies dependencies;
    private final Semaphore writers = new Semaphore(JobControllerContext.WRITES_AT_A_TIME);
    private final GroupedPodWriter podWriter;

    /** A reconciler of all LeaderWorkerSets. */
    LeaderWorkerSetReconciler(JobControllerContext context) {
      this.dependencies = context.dependencies();
      this.policy = new LeaderWorkerSetPolicy(context.options());
      this.identifierAnnotations =
          context.options().on(FeatureGate.WORKLOAD_IDENTIFIER_ANNOTATIONS);
      this.letsGo = context::letsGoForRollout;
      this.executor = new JobExecutor(new LeaderWorkerSets(), dependencies);
      this.ownerChainResolver = context.ownerChainResolver();
      this.podWriter = new GroupedPodWriter(dependencies, writers);
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
        CachedLeaderWorkerSet set, List<CachedPod> pods, Supplier<List<CachedWorkload>> own)
        throws InterruptedException {
      if (executor.unseen(set.job())) {
        return Optional.of(UNTIL_SEEN);
      }
      List<JobAction> actions = decide(set, own);
      if (!actions.isEmpty() && actions.getFirst() instanceof DeleteWorkload && isOutdated(set)) {
        return Optional.of(UNTIL_SEEN);
      }
      Optional<Duration> again = workloads(set, actions);
      // What the pods are told depends on the Workloads as they were left by the writes. Those
      // that were refused left them as they are, and the pods of the other groups go on.
      if (executor.unseen(set.job())) {
        return Optional.of(UNTIL_SEEN);
      }
      return ownerChainResolver.status(set.job()) instanceof ManagementStatus.Own
          ? WorkQueue.earliest(again, pods(set, pods))
          : again;
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
      if (actions.isEmpty()) {
        return Optional.empty();
      }
      writers.acquire();
      try {
        return executor.executeEach(set.job(), actions);
      } finally {
        writers.release();
      }
    }

    /**
     * Whether the API server has another version of the set; deletions are decided by the newest.
     */
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
          pods.stream()
              .filter(pod -> pod.gated() && !pod.job().deleting() && !pod.ended())
              .toList();
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
      String name = policy.nameOf(set, place.group());
      Optional<CachedWorkload> workload = find(set, name);
      if (!GroupWorkloads.isJoinable(workload, set.job().ref(), set.isSent())) {
        return Optional.empty();
      }
      if (GroupMembership.isInAnotherGroup(name, pod)) {
        return podWriter.delete(set.job().ref(), pod.job());
      }
      boolean waits = workload.filter(it -> letsGo.test(set.job(), it)).isPresent();
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

  /**
   * The place of a pod in a LeaderWorkerSet.
   *
   * @param group the index of its group
   * @param index the index of the pod in the group; that of the leader is 0
   */
  record GroupPlace(int group, int index) {

    private static final String GROUP_LABEL = LeaderWorkerSets.PREFIX + "/group-index";
    private static final String REVISION_LABEL =
        LeaderWorkerSets.PREFIX + "/template-revision-hash";

    /**
     * The name of the LeaderWorkerSet that a pod says it is of; empty if the pod isn't held back
     * for one.
     */
    static Optional<String> setOf(CachedPod pod) {
      return Optional.ofNullable(pod.job().labels().get(LeaderWorkerSets.NAME_LABEL))
          .filter(
              it ->
                  LeaderWorkerSets.KIND
                      .framework()
                      .equals(pod.job().annotations().get(KueueConstants.POD_SUSPENDING_PARENT)));
    }

    /**
     * The place that the labels of a pod tell; empty if it isn't a pod of the set. A pod has to
     * have the name that belongs to the place, so that no two pods have the same one.
     */
    static Optional<GroupPlace> of(CachedLeaderWorkerSet set, CachedPod pod) {
      String name = set.job().ref().name();
      Map<String, String> labels = pod.job().labels();
      if (setOf(pod).filter(name::equals).isEmpty()) {
        return Optional.empty();
      }
      int group = number(labels.getOrDefault(GROUP_LABEL, ""));
      int index = number(labels.getOrDefault(LeaderWorkerSets.INDEX_LABEL, ""));
      String expected = name + "-" + group + (index == 0 ? "" : "-" + index);
      return group >= 0 && index >= 0 && index < set.size() && pod.name().equals(expected)
          ? Optional.of(new GroupPlace(group, index))
          : Optional.empty();
    }

    private static int number(String text) {
      try {
        return Integer.parseInt(text);
      } catch (NumberFormatException notANumber) {
        return -1;
      }
    }

    /** The pod set of the pod. */
    private String role(CachedLeaderWorkerSet set) {
      boolean divided = set.job().podSets().getFirst().name().equals("leader");
      return divided ? index == 0 ? "leader" : "worker" : "main";
    }

    /**
     * The revision of the templates that the labels of a pod or StatefulSet name; empty if none.
     */
    static String revision(Map<String, String> labels) {
      return labels.getOrDefault(REVISION_LABEL, "");
    }

    /**
     * The write that a gated pod at this place needs; empty when it needs none.
     *
     * @param workload the name of the Workload of its group
     * @param updateRevision the revision to which a rollout brings pods whose Workload isn't
     *     admitted: a pod of another one is let go; empty if none is
     * @param byAnnotation whether the Workload and the group are named by annotations
     */
    Optional<JobPatch> needed(
        CachedLeaderWorkerSet set,
        CachedPod pod,
        String workload,
        String updateRevision,
        boolean byAnnotation) {
      String revision = revision(pod.job().labels());
      boolean replaced =
          !updateRevision.isEmpty() && !revision.isEmpty() && !revision.equals(updateRevision);
      return replaced
          ? Optional.of(GroupMembership.leave(pod))
          : new GroupMembership(workload, role(set), set.size(), Map.of(), byAnnotation)
              .join(set.job(), pod);
    }
  }

  /**
   * Decides what to do about the Workloads of a LeaderWorkerSet, one for each group: a pure
   * function. The policy of pod groups starts and stops the pods.
   */
  static final class LeaderWorkerSetPolicy {

    /** The value of {@code kueue.x-k8s.io/job-owner-gvk} for a LeaderWorkerSet. */
    static final String OWNER_GVK =
        LeaderWorkerSets.KIND.apiVersion() + ", Kind=" + LeaderWorkerSets.KIND.kind();

    /** How many groups are looked at before what was decided for them is carried out. */
    private static final int WRITES_AT_ONCE = 32;

    private final WorkloadFactory factory;
    private final WorkloadActions actions;
    private final WorkloadSynchronizer synchronizer;
    private final int longestName;

    LeaderWorkerSetPolicy(JobOptions options) {
      this.synchronizer = new WorkloadSynchronizer(options);
      this.factory = new WorkloadFactory(options);
      this.actions = new WorkloadActions(new LeaderWorkerSets(), factory);
      this.longestName = options.longestWorkloadName();
    }

    /** The name of the Workload of a group. */
    String nameOf(CachedLeaderWorkerSet set, int group) {
      return WorkloadNames.of(
          LeaderWorkerSets.KIND.kind(),
          LeaderWorkerSets.KIND.group(),
          set.job().ref().name() + "-" + group,
          set.uidOfOrigin(),
          "",
          longestName);
    }

    /**
     * The actions for the Workloads of a set; empty if nothing has to be done.
     *
     * @param context the set as a job, and the cluster
     * @param own the Workloads that name the set as their job
     * @param find the Workload of a name, if it exists
     */
    List<JobAction> decide(
        CachedLeaderWorkerSet set,
        ReconcileContext context,
        List<CachedWorkload> own,
        Function<String, Optional<CachedWorkload>> find) {
      if (set.job().deleting() || !set.gated()) {
        return List.of();
      }
      return switch (context.managementStatus()) {
        case ManagementStatus.Unmanaged unmanaged -> List.of();
        case ManagementStatus.ChildOfManaged child -> List.of();
        case ManagementStatus.NestedTooDeep deep ->
            List.of(new Warn("JobNestingTooDeep", "more than 10 owners up the chain; not handled"));
        case ManagementStatus.Own managed ->
            set.isSent() ? adopt(set, find) : groups(set, context, own, find);
      };
    }

    /** In a worker cluster the manager makes, changes and deletes the Workloads. */
    private List<JobAction> adopt(
        CachedLeaderWorkerSet set, Function<String, Optional<CachedWorkload>> find) {
      List<JobAction> steps = new ArrayList<>();
      for (int group = 0; group < set.groups() && steps.size() < WRITES_AT_ONCE; group++) {
        find.apply(nameOf(set, group))
            .filter(it -> !it.deleting() && !it.finished() && GroupWorkloads.isMarked(it))
            .filter(it -> !GroupWorkloads.isOwned(it, set.job().ref()))
            .map(it -> GroupWorkloads.adopt(it, set.job().ref(), OWNER_GVK))
            .ifPresent(steps::add);
      }
      return steps;
    }

    private List<JobAction> groups(
        CachedLeaderWorkerSet set,
        ReconcileContext context,
        List<CachedWorkload> own,
        Function<String, Optional<CachedWorkload>> find) {
      List<JobAction> steps = new ArrayList<>();
      Set<String> wanted = new HashSet<>();
      Set<String> further = new HashSet<>();
      int waiting = 0;
      for (CachedWorkload workload : own) {
        waiting += workload.quotaReserved() || workload.finished() ? 0 : 1;
        if (GroupWorkloads.isOwned(workload, set.job().ref())) {
          further.add(workload.id().name());
        }
      }
      for (int group = 0; group < set.groups() && steps.size() < WRITES_AT_ONCE; group++) {
        String name = nameOf(set, group);
        wanted.add(name);
        further.remove(name);
        Optional<CachedWorkload> workload = find.apply(name);
        if (workload.isPresent()) {
          steps.addAll(withWorkload(set, context, workload.get()));
        } else if (waiting < MultiKueueRules.MOST_WAITING_GROUPS) {
          steps.addAll(create(set, context, name, group));
          waiting++;
        } else if (further.isEmpty()) {
          break;
        }
      }
      if (!steps.isEmpty()) {
        return steps;
      }
      for (CachedWorkload workload : own) {
        if (!wanted.contains(workload.id().name())
            && !workload.deleting()
            && GroupWorkloads.isMarked(workload)
            && GroupWorkloads.isOwned(workload, set.job().ref())) {
          steps.add(new DeleteWorkload(workload, "its group is gone"));
        }
      }
      return steps;
    }

    private List<JobAction> create(
        CachedLeaderWorkerSet set, ReconcileContext context, String name, int group) {
      return WorkloadActions.withPriority(
          context, priority -> new CreateWorkload(compose(set.job(), name, group, priority)));
    }

    private ObjectNode compose(
        CachedJob job, String name, int group, PrioritySource.Found priority) {
      ObjectNode workload = factory.compose(job, name, actions.podSets(job), priority);
      GroupWorkloads.mark(workload, job.ref(), OWNER_GVK);
      workload
          .withObject("/metadata/annotations")
          .put(KueueConstants.COMPONENT_WORKLOAD_INDEX, Integer.toString(group));
      return workload;
    }

    private List<JobAction> withWorkload(
        CachedLeaderWorkerSet set, ReconcileContext context, CachedWorkload workload) {
      if (workload.deleting() || workload.finished()) {
        return List.of();
      }
      if (!GroupWorkloads.isMarked(workload)) {
        return List.of(
            new Warn(
                "WorkloadNameConflict",
                "Workload " + workload.id() + " exists and was not made for a group of pods"));
      }
      if (!GroupWorkloads.isOwned(workload, set.job().ref())
          || !workload.annotations().containsKey(KueueConstants.JOB_OWNER_GVK)) {
        return List.of(GroupWorkloads.adopt(workload, set.job().ref(), OWNER_GVK));
      }
      if (workload.quotaReserved() || hasSamePodSets(set.job(), workload)) {
        return synchronizer.synchronize(context, workload);
      }
      return workload.status().reclaimablePods().isEmpty()
          ? actions.rewrite(
              context,
              workload,
              "Updated Workload " + workload.id() + " to what the LeaderWorkerSet says now")
          : List.of(WorkloadStatuses.withoutReclaimable(workload));
    }

    private static boolean hasSamePodSets(CachedJob job, CachedWorkload workload) {
      List<CachedWorkload.PodSet> known = workload.spec().podSets();
      List<CachedJob.PodSet> wanted = job.podSets();
      boolean same = known.size() == wanted.size();
      for (int i = 0; same && i < known.size(); i++) {
        CachedWorkload.PodSet one = known.get(i);
        CachedJob.PodSet other = wanted.get(i);
        same =
            one.name().equals(other.name())
                && one.count() == other.count()
                && other.fingerprint().full().equals(one.template().fingerprint());
      }
      return same;
    }
  }
}
