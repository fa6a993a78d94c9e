package dev.sluice.jobs.kinds.leaderworkerset;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.controller.GroupWorkloads;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.JobAction.CreateWorkload;
import dev.sluice.jobs.policy.JobAction.DeleteWorkload;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.ManagementStatus;
import dev.sluice.jobs.policy.PrioritySource;
import dev.sluice.jobs.policy.ReconcileContext;
import dev.sluice.jobs.policy.WorkloadActions;
import dev.sluice.jobs.policy.WorkloadFactory;
import dev.sluice.jobs.policy.WorkloadNames;
import dev.sluice.jobs.policy.WorkloadStatuses;
import dev.sluice.jobs.policy.WorkloadSynchronizer;
import dev.sluice.workload.record.CachedWorkload;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Decides what to do about the Workloads of a LeaderWorkerSet, one for each group: a pure function.
 * The policy of pod groups starts and stops the pods.
 */
final class LeaderWorkerSetPolicy {

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

  private ObjectNode compose(CachedJob job, String name, int group, PrioritySource.Found priority) {
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
