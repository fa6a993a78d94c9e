package dev.sluice.jobs.kinds.statefulset;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.controller.GroupWorkloads;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.JobAction.CreateWorkload;
import dev.sluice.jobs.policy.JobAction.DeleteWorkload;
import dev.sluice.jobs.policy.JobAction.PatchStatus;
import dev.sluice.jobs.policy.JobAction.PatchWorkload;
import dev.sluice.jobs.policy.JobAction.Requeue;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.jobs.policy.ReconcileContext;
import dev.sluice.jobs.policy.WorkloadFactory;
import dev.sluice.jobs.policy.WorkloadFactory.PrioritySource;
import dev.sluice.jobs.policy.WorkloadFactory.WorkloadActions;
import dev.sluice.jobs.policy.WorkloadStatuses;
import dev.sluice.jobs.policy.WorkloadSynchronizer;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.status.Evictions;
import dev.sluice.workload.status.PodsReady;
import dev.sluice.workload.status.StatusPatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Decides what to do about the Workload of a StatefulSet: a pure function. The policy of pod groups
 * starts and stops the pods.
 */
final class StatefulSetPolicy {

  /** The value of {@code kueue.x-k8s.io/job-owner-gvk} for a StatefulSet. */
  static final String OWNER_GVK = "apps/v1, Kind=StatefulSet";

  private static final String OTHER_NUMBER = "the StatefulSet has another number of replicas";
  private static final Duration RETRY = Duration.ofSeconds(5);

  private final JobOptions options;
  private final WorkloadFactory factory;
  private final WorkloadActions actions;
  private final WorkloadSynchronizer synchronizer;

  StatefulSetPolicy(JobOptions options) {
    this.synchronizer = new WorkloadSynchronizer(options);
    this.options = options;
    this.factory = new WorkloadFactory(options);
    this.actions = new WorkloadActions(new StatefulSets(), factory);
  }

  /**
   * The actions for a StatefulSet; empty if nothing has to be done.
   *
   * @param reconcileContext the set as a job; its Workload, if it exists, is the prebuilt one
   * @param name the name of the set's first Workload
   * @param ranges the Workloads of the set; the first one is that of {@code reconcileContext}
   */
  List<JobAction> decide(
      CachedStatefulSet set, ReconcileContext reconcileContext, String name, ReplicaRanges ranges) {
    if (set.job().deleting() || !set.gated()) {
      return List.of();
    }
    return switch (reconcileContext.managementStatus()) {
      case ManagementStatus.Unmanaged unmanaged -> List.of();
      case ManagementStatus.ChildOfManaged child -> List.of();
      case ManagementStatus.NestedTooDeep deep ->
          List.of(new Warn("JobNestingTooDeep", "more than 10 owners up the chain; not handled"));
      case ManagementStatus.Own own ->
          reconcileContext.prebuilt().isPresent()
              ? withWorkload(set, reconcileContext, reconcileContext.prebuilt().get(), ranges)
              : withoutWorkload(set, reconcileContext, name);
    };
  }

  /**
   * Creates the Workload, unless the set is a copy in a worker cluster: then the manager creates
   * the Workload.
   */
  private List<JobAction> withoutWorkload(
      CachedStatefulSet set, ReconcileContext reconcileContext, String name) {
    if (set.replicas() == 0 || set.isSent()) {
      return List.of();
    }
    return WorkloadActions.withPriority(
        reconcileContext,
        priority -> new CreateWorkload(compose(set, name, set.replicas(), priority)));
  }

  private ObjectNode compose(
      CachedStatefulSet set, String name, int count, PrioritySource.Found priority) {
    CachedJob job = set.job();
    ObjectNode workload = factory.compose(job, name, podSets(job, count), priority);
    GroupWorkloads.mark(workload, job.ref(), OWNER_GVK);
    return workload;
  }

  /** The pod set of the template, with this many pods. */
  private List<PodSetTemplate> podSets(CachedJob job, int count) {
    return actions.podSets(job).stream()
        .map(
            podSet ->
                new PodSetTemplate(
                    podSet.name(), count, 0, podSet.template(), podSet.topologyRequest()))
        .toList();
  }

  private List<JobAction> withWorkload(
      CachedStatefulSet set,
      ReconcileContext reconcileContext,
      CachedWorkload workload,
      ReplicaRanges ranges) {
    if (workload.deleting() || workload.finished()) {
      return List.of();
    }
    if (!GroupWorkloads.isMarked(workload)) {
      return List.of(
          new Warn(
              "WorkloadNameConflict",
              "Workload " + workload.id() + " exists and was not made for a group of pods"),
          new Requeue(RETRY));
    }
    if (!GroupWorkloads.isOwned(workload, set.job().ref())
        || !workload.annotations().containsKey(KueueConstants.JOB_OWNER_GVK)) {
      return List.of(GroupWorkloads.adopt(workload, set.job().ref(), OWNER_GVK));
    }
    if (set.isSent()) {
      return List.of();
    }
    if (!ranges.superfluous().isEmpty()) {
      return List.of(
          new DeleteWorkload(
              ranges.superfluous().getLast(),
              "its replicas are gone or belong to another Workload of the StatefulSet"));
    }
    if (set.replicas() == 0) {
      return hold(set, workload, reconcileContext);
    }
    return workload.quotaReserved()
        ? reserved(set, reconcileContext, workload, ranges)
        : waiting(set, reconcileContext, ReplicaRange.of(0, workload));
  }

  /** Quota that is held is never requested again: only the difference is. */
  private List<JobAction> reserved(
      CachedStatefulSet set,
      ReconcileContext reconcileContext,
      CachedWorkload workload,
      ReplicaRanges ranges) {
    if (workload.spec().podSets().size() != 1) {
      return List.of(new DeleteWorkload(workload, OTHER_NUMBER));
    }
    ReplicaRange last = ranges.list().getLast();
    if (last.workload().deleting() || last.workload().finished()) {
      return List.of();
    }
    if (last.end() > set.replicas() && last.isReserved()) {
      return giveBack(set, last, ranges);
    }
    List<JobAction> steps = new ArrayList<>();
    for (ReplicaRange range : ranges.list()) {
      if (steps.isEmpty()) {
        steps.addAll(
            range.isReserved()
                ? synchronizer.synchronize(reconcileContext, range.workload())
                : waiting(set, reconcileContext, range));
      }
    }
    if (last.end() >= set.replicas() || !last.isReserved()) {
      return steps;
    }
    if (ranges.remote()) {
      steps.addFirst(
          new Warn(
              "ReplicasNotAdmitted",
              "%d of %d replicas are admitted; the others stay gated. To queue the StatefulSet with all replicas, scale it to 0 and up again"
                  .formatted(last.end(), set.replicas())));
      return steps;
    }
    return steps.isEmpty() ? add(set, reconcileContext, last.end(), ranges.next()) : steps;
  }

  /** Requests quota for the replicas that were added, without touching what the others hold. */
  private List<JobAction> add(
      CachedStatefulSet set, ReconcileContext reconcileContext, int first, String name) {
    return WorkloadActions.withPriority(
        reconcileContext,
        priority -> {
          ObjectNode workload = compose(set, name, set.replicas() - first, priority);
          workload
              .withObjectProperty("metadata")
              .withObjectProperty("annotations")
              .put(StatefulSetWorkloads.FIRST_REPLICA, Integer.toString(first));
          return new CreateWorkload(workload);
        });
  }

  /**
   * Gives back the quota of removed replicas, once their pods are gone. Where that can't be done by
   * pods, the Workload is made anew.
   */
  private List<JobAction> giveBack(CachedStatefulSet set, ReplicaRange last, ReplicaRanges ranges) {
    List<CachedWorkload.PodSet> podSets = last.workload().spec().podSets();
    if (!options.on(FeatureGate.RECLAIMABLE_PODS) || ranges.remote() || podSets.size() != 1) {
      return List.of(new DeleteWorkload(last.workload(), OTHER_NUMBER));
    }
    if (ranges.awaitsPods(set)) {
      return List.of();
    }
    CachedWorkload.PodSet podSet = podSets.getFirst();
    int removed = podSet.count() - (set.replicas() - last.first());
    return List.of(
        new PatchStatus(
            last.workload(),
            WorkloadStatuses.reclaimable(Map.of(podSet.name(), removed)),
            "gives back the quota of removed replicas"));
  }

  private List<JobAction> waiting(
      CachedStatefulSet set, ReconcileContext reconcileContext, ReplicaRange range) {
    CachedWorkload workload = range.workload();
    int wanted = set.replicas() - range.first();
    if (workload.spec().podSets().size() != 1
        || range.count() != wanted
        || !sameTemplate(set, workload)) {
      return workload.status().reclaimablePods().isEmpty()
          ? rewrite(reconcileContext, workload, wanted)
          : List.of(WorkloadStatuses.withoutReclaimable(workload));
    }
    if (WorkloadStatuses.isOnHold(workload)) {
      StatusPatch patch =
          StatusPatch.of(workload, reconcileContext.now())
              .dropReservation("PendingEvaluation", "The StatefulSet is scaled up from 0");
      return List.of(new PatchStatus(workload, patch.build(), "taken from hold"));
    }
    return synchronizer.synchronize(reconcileContext, workload);
  }

  private List<JobAction> rewrite(
      ReconcileContext reconcileContext, CachedWorkload workload, int count) {
    CachedJob job = reconcileContext.job();
    return WorkloadActions.withPriority(
        reconcileContext,
        priority ->
            new PatchWorkload(
                workload,
                factory.rewrite(job, podSets(job, count), priority),
                "Updated Workload " + workload.id() + " to what the StatefulSet says now"));
  }

  /** Releases the quota of a set that must not run, when none of its pods runs any more. */
  private List<JobAction> hold(
      CachedStatefulSet set, CachedWorkload workload, ReconcileContext reconcileContext) {
    if (set.present() > 0 || !WorkloadStatuses.takesHold(workload)) {
      return List.of();
    }
    StatusPatch patch =
        StatusPatch.of(workload, reconcileContext.now())
            .dropReservation(
                WorkloadStatuses.reasonToHold(workload), "The StatefulSet is scaled to 0");
    if (options.podsReady(workload)) {
      PodsReady.initial(patch);
    }
    Evictions.resetPlacement(patch, workload, reconcileContext.now());
    return List.of(new PatchStatus(workload, patch.build(), "put on hold"));
  }

  private static boolean sameTemplate(CachedStatefulSet set, CachedWorkload workload) {
    return set.job()
        .podSets()
        .getFirst()
        .fingerprint()
        .full()
        .equals(workload.spec().podSets().getFirst().template().fingerprint());
  }

  /**
   * Consecutive pods of a StatefulSet, and the Workload that holds or requests their quota.
   *
   * @param first how many pods of the set come before them
   * @param count the number of pods that the Workload still needs quota for
   */
  record ReplicaRange(int first, int count, CachedWorkload workload) {

    /** The range of a Workload; pods that it gave back (reclaimablePods) are left out. */
    static ReplicaRange of(int first, CachedWorkload workload) {
      int count = 0;
      for (CachedWorkload.PodSet podSet : workload.spec().podSets()) {
        int givenBack = workload.status().reclaimablePods().getOrDefault(podSet.name(), 0);
        count += Math.max(0, podSet.count() - Math.max(0, givenBack));
      }
      return new ReplicaRange(first, count, workload);
    }

    /** The number of pods of the set up to the end of this range. */
    int end() {
      return first + count;
    }

    /** Whether the Workload has quota and keeps it. */
    boolean isReserved() {
      return workload.quotaReserved() && !workload.deleting() && !workload.finished();
    }

    /** Whether the pod with this many pods before it belongs to the range. */
    boolean covers(int place) {
      return place >= first && place < end();
    }
  }

  /**
   * How the pods of a StatefulSet are divided among its Workloads (docs/pods.md#scaling).
   *
   * @param list the ranges in order, without gaps; all but the last hold quota. Empty while the set
   *     has no Workload
   * @param superfluous Workloads of the set whose pods belong to another range, or to none
   * @param next the name of a Workload for the pods after the last range
   * @param remote whether the pods run in another cluster
   * @param known how many pods of the set are known, counted up to the one with the highest index
   */
  record ReplicaRanges(
      List<ReplicaRange> list,
      List<CachedWorkload> superfluous,
      String next,
      boolean remote,
      int known) {

    ReplicaRanges {
      list = List.copyOf(list);
      superfluous = List.copyOf(superfluous);
    }

    /** The range of the pod with this many pods before it. */
    Optional<ReplicaRange> find(int place) {
      return list.stream().filter(range -> range.covers(place)).findFirst();
    }

    /** The number of pods that the ranges are for. */
    int end() {
      return list.isEmpty() ? 0 : list.getLast().end();
    }

    /** Whether quota is to be given back for pods that still exist. */
    boolean awaitsPods(CachedStatefulSet set) {
      return end() > set.replicas() && known > set.replicas();
    }
  }
}
