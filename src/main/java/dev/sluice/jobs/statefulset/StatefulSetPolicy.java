package dev.sluice.jobs.statefulset;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.CachedJob;
import dev.sluice.jobs.JobAction;
import dev.sluice.jobs.JobAction.CreateWorkload;
import dev.sluice.jobs.JobAction.DeleteWorkload;
import dev.sluice.jobs.JobAction.PatchStatus;
import dev.sluice.jobs.JobAction.PatchWorkload;
import dev.sluice.jobs.JobAction.Requeue;
import dev.sluice.jobs.JobAction.Warn;
import dev.sluice.jobs.JobOptions;
import dev.sluice.jobs.JobRef;
import dev.sluice.jobs.ManagementStatus;
import dev.sluice.jobs.PrioritySource;
import dev.sluice.jobs.ReconcileContext;
import dev.sluice.jobs.WorkloadActions;
import dev.sluice.jobs.WorkloadFactory;
import dev.sluice.jobs.WorkloadSynchronizer;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.Evictions;
import dev.sluice.workload.PodsReady;
import dev.sluice.workload.StatusPatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Decides what to do about the Workload of a StatefulSet: a pure function. The policy of pod groups
 * starts and stops the pods.
 */
final class StatefulSetPolicy {

  /** The value of {@code kueue.x-k8s.io/job-owner-gvk} for a StatefulSet. */
  static final String OWNER_GVK = "apps/v1, Kind=StatefulSet";

  private static final Duration RETRY = Duration.ofSeconds(5);

  private final JobOptions rules;
  private final WorkloadFactory composer;
  private final WorkloadActions actions;
  private final WorkloadSynchronizer upkeep = new WorkloadSynchronizer();

  StatefulSetPolicy(JobOptions rules) {
    this.rules = rules;
    this.composer = new WorkloadFactory(rules);
    this.actions = new WorkloadActions(new StatefulSets(), composer);
  }

  /**
   * The actions for a StatefulSet; empty if nothing has to be done.
   *
   * @param reconcileContext the set as a job; its Workload, if it exists, is the prebuilt one
   * @param name the name of the set's Workload
   */
  List<JobAction> decide(CachedStatefulSet set, ReconcileContext reconcileContext, String name) {
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
              ? withWorkload(set, reconcileContext, reconcileContext.prebuilt().get())
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
        reconcileContext, priority -> new CreateWorkload(compose(set, name, priority)));
  }

  private ObjectNode compose(CachedStatefulSet set, String name, PrioritySource.Found priority) {
    CachedJob job = set.job();
    ObjectNode workload = composer.compose(job, name, actions.podSets(job), priority);
    ObjectNode metadata = workload.withObjectProperty("metadata");
    metadata.putArray("ownerReferences").add(reference(job.ref()));
    metadata.withObjectProperty("labels").put(KueueConstants.JOB_UID, job.ref().uid());
    metadata
        .withObjectProperty("annotations")
        .put(KueueConstants.IS_GROUP_WORKLOAD, "true")
        .put(KueueConstants.JOB_OWNER_GVK, OWNER_GVK)
        .put(KueueConstants.JOB_OWNER_NAME, job.ref().name());
    return workload;
  }

  private List<JobAction> withWorkload(
      CachedStatefulSet set, ReconcileContext reconcileContext, CachedWorkload workload) {
    if (workload.deleting() || workload.finished()) {
      return List.of();
    }
    if (!"true".equals(workload.annotations().get(KueueConstants.IS_GROUP_WORKLOAD))) {
      return List.of(
          new Warn(
              "WorkloadNameConflict",
              "Workload " + workload.id() + " exists and was not made for a group of pods"),
          new Requeue(RETRY));
    }
    if (!isOwned(workload, set.job().ref())
        || !workload.annotations().containsKey(KueueConstants.JOB_OWNER_GVK)) {
      return List.of(adopt(workload, set.job().ref()));
    }
    if (set.isSent()) {
      return List.of();
    }
    if (set.replicas() == 0) {
      return hold(set, workload, reconcileContext);
    }
    if (workload.quotaReserved()) {
      return reserved(set, reconcileContext, workload);
    }
    return waiting(set, reconcileContext, workload);
  }

  /** More replicas than were admitted don't concern the pods that run: the others stay gated. */
  private List<JobAction> reserved(
      CachedStatefulSet set, ReconcileContext reconcileContext, CachedWorkload workload) {
    int count = StatefulSetWorkloads.count(workload);
    if (workload.spec().podSets().size() != 1 || set.replicas() < count) {
      return List.of(
          new DeleteWorkload(workload, "the StatefulSet has another number of replicas"));
    }
    List<JobAction> steps = new ArrayList<>();
    if (set.replicas() > count) {
      steps.add(
          new Warn(
              "ReplicasNotAdmitted",
              "%d of %d replicas are admitted; the others stay gated. To queue the StatefulSet with all replicas, scale it to 0 and up again"
                  .formatted(count, set.replicas())));
    }
    steps.addAll(upkeep.synchronize(reconcileContext, workload));
    return steps;
  }

  private List<JobAction> waiting(
      CachedStatefulSet set, ReconcileContext reconcileContext, CachedWorkload workload) {
    if (!sameCount(set, workload) || !sameTemplate(set, workload)) {
      return actions.rewrite(
          reconcileContext,
          workload,
          "Updated Workload " + workload.id() + " to what the StatefulSet says now");
    }
    if (StatefulSetWorkloads.isOnHold(workload)) {
      StatusPatch patch =
          StatusPatch.of(workload, reconcileContext.now())
              .dropReservation("PendingEvaluation", "The StatefulSet is scaled up from 0");
      return List.of(new PatchStatus(workload, patch.build(), "taken from hold"));
    }
    return upkeep.synchronize(reconcileContext, workload);
  }

  /** Releases the quota of a set that must not run, when none of its pods runs any more. */
  private List<JobAction> hold(
      CachedStatefulSet set, CachedWorkload workload, ReconcileContext reconcileContext) {
    if (set.present() > 0 || StatefulSetWorkloads.isOnHold(workload)) {
      return List.of();
    }
    StatusPatch patch =
        StatusPatch.of(workload, reconcileContext.now())
            .dropReservation("OnHold", "The StatefulSet is scaled to 0");
    if (rules.podsReady()) {
      PodsReady.initial(patch);
    }
    Evictions.resetPlacement(patch, workload, reconcileContext.now());
    return List.of(new PatchStatus(workload, patch.build(), "put on hold"));
  }

  private static boolean sameCount(CachedStatefulSet set, CachedWorkload workload) {
    List<CachedWorkload.PodSet> podSets = workload.spec().podSets();
    return podSets.size() == 1 && podSets.getFirst().count() == set.replicas();
  }

  private static boolean sameTemplate(CachedStatefulSet set, CachedWorkload workload) {
    return set.job()
        .podSets()
        .getFirst()
        .fingerprint()
        .full()
        .equals(workload.spec().podSets().getFirst().template().fingerprint());
  }

  private static boolean isOwned(CachedWorkload workload, JobRef set) {
    return workload.coOwners().stream().anyMatch(owner -> owner.uid().equals(set.uid()))
        || workload.owner().filter(owner -> owner.uid().equals(set.uid())).isPresent();
  }

  /** Adds the set to the owners of the Workload, and names it in the annotations. */
  private static PatchWorkload adopt(CachedWorkload workload, JobRef set) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ArrayNode owners = patch.putObject("metadata").putArray("ownerReferences");
    workload.owner().ifPresent(owner -> owners.add(reference(owner).put("controller", true)));
    workload.coOwners().forEach(owner -> owners.add(reference(owner)));
    if (!isOwned(workload, set)) {
      owners.add(reference(set));
    }
    if (!workload.annotations().containsKey(KueueConstants.JOB_OWNER_GVK)) {
      patch
          .withObjectProperty("metadata")
          .putObject("annotations")
          .put(KueueConstants.JOB_OWNER_GVK, OWNER_GVK)
          .put(KueueConstants.JOB_OWNER_NAME, set.name());
    }
    return new PatchWorkload(workload, patch, "");
  }

  private static ObjectNode reference(JobRef set) {
    return reference(
        new CachedWorkload.Owner(
            set.kind().apiVersion(), set.kind().kind(), set.name(), set.uid()));
  }

  private static ObjectNode reference(CachedWorkload.Owner owner) {
    return JsonNodeFactory.instance
        .objectNode()
        .put("apiVersion", owner.apiVersion())
        .put("kind", owner.kind())
        .put("name", owner.name())
        .put("uid", owner.uid());
  }
}
