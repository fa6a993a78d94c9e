package dev.sluice.jobs.kinds.pod;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.FlavorLookup;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.JobAction.DeleteJob;
import dev.sluice.jobs.policy.JobAction.FinishWorkload;
import dev.sluice.jobs.policy.JobAction.PatchStatus;
import dev.sluice.jobs.policy.JobAction.RemoveFinalizer;
import dev.sluice.jobs.policy.JobAction.RemoveFinalizers;
import dev.sluice.jobs.policy.JobAction.Requeue;
import dev.sluice.jobs.policy.JobAction.Stop;
import dev.sluice.jobs.policy.JobAction.StopReason;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.jobs.policy.ReconcileContext;
import dev.sluice.jobs.policy.Retention;
import dev.sluice.jobs.policy.WorkloadFactory.PriorityLookup;
import dev.sluice.jobs.policy.WorkloadStatuses;
import dev.sluice.jobs.policy.WorkloadSynchronizer;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.status.StatusPatch;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Decides what to do about a group of pods, from the states of the pods and of the group's
 * Workload: a pure function (docs/workload-semantics.md#reconciliation-of-jobs, docs/pods.md). It
 * returns the actions that are possible now; actions that depend on their results are decided when
 * the results are observed.
 */
final class PodGroupPolicy {

  private static final String WAITING = "WaitingForReplacementPods";

  private final JobOptions options;
  private final PodGroupWorkloadBuilder making;
  private final WorkloadSynchronizer synchronizer;

  PodGroupPolicy(JobOptions options) {
    this.synchronizer = new WorkloadSynchronizer(options);
    this.options = options;
    this.making = new PodGroupWorkloadBuilder(options);
  }

  /** The actions for a group; empty if nothing has to be done. */
  List<PodGroupAction> decide(PodGroupContext situation) {
    PodGroup group = situation.group();
    if (!(situation.managementStatus() instanceof ManagementStatus.Own)) {
      return PodActionExecutor.release(
          group.pods().stream().filter(pod -> pod.job().deleting()).toList());
    }
    Optional<CachedWorkload> workload = situation.workload();
    if (workload.isEmpty()) {
      return withoutWorkload(situation);
    }
    if (!making.isOf(group, workload.get())) {
      return unmanaged(situation, workload.get());
    }
    return workload.get().deleting()
        ? leaving(situation, workload.get())
        : withWorkload(situation, workload.get());
  }

  private List<PodGroupAction> unmanaged(PodGroupContext situation, CachedWorkload workload) {
    List<PodGroupAction> steps = new ArrayList<>(unguarded(situation));
    steps.add(
        new PodGroupAction(
            situation.group().asJob(),
            new Warn(
                "WorkloadNameConflict",
                "Workload %s is not that of a group of pods, and has the group's name"
                    .formatted(workload.id()))));
    return steps;
  }

  /**
   * Stops started pods of a group that has no Workload, and removes the finalizer of ended ones.
   * While others are to run, those that have succeeded count, and keep theirs.
   */
  private static List<PodGroupAction> unguarded(PodGroupContext situation) {
    PodGroup group = situation.group();
    List<CachedPod> kept =
        group.pods().stream().allMatch(CachedPod::ended) ? List.of() : group.kept();
    List<PodGroupAction> steps =
        new ArrayList<>(
            writable(
                situation,
                PodActionExecutor.release(
                    group.pods().stream()
                        .filter(pod -> pod.ended() || pod.job().deleting())
                        .filter(pod -> !kept.contains(pod))
                        .toList())));
    steps.addAll(
        PodActionExecutor.stop(
            group.startedAndKept(),
            StopReason.NO_MATCHING_WORKLOAD,
            "No Workload matches pod group " + group.namespace() + "/" + group.name()));
    return steps;
  }

  private List<PodGroupAction> withoutWorkload(PodGroupContext situation) {
    PodGroup group = situation.group();
    List<PodGroupAction> steps = unguarded(situation);
    if (!steps.isEmpty() || group.waiting().isEmpty() || group.prebuilt()) {
      return steps;
    }
    Optional<String> disagreement = group.disagreement(options.copiedLabels());
    if (disagreement.isPresent()) {
      return List.of(
          new PodGroupAction(group.asJob(), new Warn("ErrWorkloadCompose", disagreement.get())));
    }
    List<PodGroupAction> excess =
        writable(
            situation,
            PodActionExecutor.removeExcess(PodGroupMembers.excess(group, group.composed())));
    return excess.isEmpty() ? making.create(situation) : excess;
  }

  /** The steps for pods that can be written: the group doesn't wait for the others. */
  private static List<PodGroupAction> writable(
      PodGroupContext situation, List<PodGroupAction> steps) {
    return steps.stream().filter(step -> !situation.unwritable().contains(step.target())).toList();
  }

  /**
   * Stops the started pods of a group whose Workload is being deleted; then the Workload loses its
   * finalizer. For a group without known pods, {@link PodWorkloadFinalizer} removes the finalizer
   * after it asked the API server for pods.
   */
  private static List<PodGroupAction> leaving(PodGroupContext situation, CachedWorkload workload) {
    PodGroup group = situation.group();
    List<PodGroupAction> stops =
        PodActionExecutor.stop(
            group.startedAndKept(), StopReason.WORKLOAD_DELETED, "Its Workload is being deleted");
    if (!stops.isEmpty()) {
      return stops;
    }
    if (!group.active().isEmpty()) {
      return untilOverdue(situation);
    }
    return workload.finalized() && !group.pods().isEmpty()
        ? List.of(new PodGroupAction(group.asJob(), new RemoveFinalizer(workload)))
        : List.of();
  }

  private static List<PodGroupAction> untilOverdue(PodGroupContext situation) {
    return situation.group().overdueAt().stream()
        .map(due -> Duration.between(situation.now(), due).plusMillis(1))
        .map(delay -> new PodGroupAction(situation.group().asJob(), new Requeue(delay)))
        .toList();
  }

  private List<PodGroupAction> withWorkload(PodGroupContext situation, CachedWorkload workload) {
    PodGroup group = situation.group();
    CachedJob job = group.asJob();
    if (workload.finished()) {
      List<PodGroupAction> steps = new ArrayList<>();
      if (workload.finalized()) {
        steps.add(new PodGroupAction(job, new RemoveFinalizer(workload)));
      }
      steps.addAll(PodActionExecutor.release(group.pods()));
      return steps;
    }
    Optional<JobState.End> end = group.end();
    if (end.isPresent()) {
      return List.of(finish(situation, workload, "Succeeded", end.get().message()));
    }
    if (!group.pods().isEmpty() && group.isLeaving() && !workload.evicted()) {
      return releasesFast(group, workload)
          ? List.of(
              finish(
                  situation,
                  workload,
                  KueueConstants.OWNER_NOT_FOUND,
                  "All pods of the group are being deleted"))
          : PodActionExecutor.release(group.pods());
    }
    List<PodGroupAction> members = members(situation, workload);
    return members.isEmpty() ? ofWorkload(situation, workload) : members;
  }

  /**
   * Whether a group that is being deleted as a whole gives its quota back while its pods terminate.
   * What makes the pods of a set makes others.
   */
  private boolean releasesFast(PodGroup group, CachedWorkload workload) {
    return group.releasesFast()
        && workload.quotaReserved()
        && !group.serving()
        && !group.hasParent();
  }

  /**
   * Removes excess pods, and pods that were replaced. A replaced pod stays until those that replace
   * it own the Workload, too: the garbage collector deletes a Workload whose owners are all gone.
   */
  private List<PodGroupAction> members(PodGroupContext situation, CachedWorkload workload) {
    PodGroup group = situation.group();
    if (group.hasParent()) {
      // What makes the pods makes others for these, whether or not these hold a finalizer.
      return writable(
          situation,
          PodActionExecutor.release(
              group.stopped().stream().filter(PodGroupMembers::isHeld).toList()));
    }
    List<PodGroupAction> steps =
        new ArrayList<>(PodActionExecutor.removeExcess(PodGroupMembers.excess(group, workload)));
    if (PodGroupWorkloadBuilder.newcomers(group, workload).isEmpty()) {
      steps.addAll(PodActionExecutor.release(PodGroupMembers.replaced(group, workload)));
    }
    return writable(situation, steps);
  }

  private List<PodGroupAction> ofWorkload(PodGroupContext situation, CachedWorkload workload) {
    List<PodGroupAction> changed = making.update(situation, workload);
    if (!changed.isEmpty()) {
      return changed;
    }
    List<PodGroupAction> told = withReason(situation, workload);
    if (!told.isEmpty()) {
      return told;
    }
    if (workload.evicted()) {
      return evicted(situation, workload);
    }
    if (workload.admitted()) {
      return admitted(situation, workload);
    }
    List<PodGroupAction> steps = waiting(situation, workload);
    return steps.isEmpty() && options.podsReady(workload)
        ? WorkloadStatuses.podsWait(workload, situation.now()).stream()
            .map(action -> new PodGroupAction(situation.group().asJob(), action))
            .toList()
        : steps;
  }

  /** Writes what follows from the states of the pods to the Workload, one write at a time. */
  private List<PodGroupAction> withReason(PodGroupContext situation, CachedWorkload workload) {
    CachedJob job = situation.group().asJob();
    ObjectNode replacements = replacements(situation, workload);
    if (!replacements.isEmpty()) {
      int missing = PodGroupMembers.missing(situation.group(), workload);
      return status(job, workload, replacements, "missing pods=" + missing);
    }
    if (options.on(FeatureGate.RECLAIMABLE_PODS) && workload.admitted()) {
      Optional<ObjectNode> reclaimable =
          WorkloadStatuses.reclaimable(workload, job.state().reclaimable());
      if (reclaimable.isPresent()) {
        return status(job, workload, reclaimable.get(), "reclaimable pods");
      }
    }
    if (!options.podsReady(workload)) {
      return List.of();
    }
    int missing = mostNotReady(situation.group());
    if (situation.group().serving()) {
      missing +=
          workload.status().reclaimablePods().values().stream().mapToInt(count -> count).sum();
    }
    boolean countSucceeded = options.on(FeatureGate.POD_INTEGRATION_COUNT_SUCCEEDED_PODS_AS_READY);
    boolean ready = situation.group().isReady(missing, countSucceeded);
    ObjectNode status = WorkloadStatuses.podsReady(workload, ready, situation.now());
    return status.isEmpty() ? List.of() : status(job, workload, status, "podsReady=" + ready);
  }

  /** How many pods needn't be ready, as the oldest pod says that says it. */
  private int mostNotReady(PodGroup group) {
    return options.on(FeatureGate.WAIT_FOR_PODS_READY_MAX_NOT_READY)
        ? group.pods().stream()
            .map(pod -> pod.job().annotations().get(KueueConstants.POD_GROUP_MAX_NOT_READY_COUNT))
            .filter(Objects::nonNull)
            .mapToInt(CachedPodParser::count)
            .findFirst()
            .orElse(0)
        : 0;
  }

  private static List<PodGroupAction> status(
      CachedJob job, CachedWorkload workload, ObjectNode status, String change) {
    return List.of(new PodGroupAction(job, new PatchStatus(workload, status, change)));
  }

  /**
   * The patch of the condition that tells whether the group waits for replacement pods before it
   * can be queued again.
   */
  private static ObjectNode replacements(PodGroupContext situation, CachedWorkload workload) {
    int missing = PodGroupMembers.missing(situation.group(), workload);
    StatusPatch patch = StatusPatch.of(workload, situation.now());
    if (workload.evicted() && !situation.group().active().isEmpty()) {
      // It is told once, when the last pod has stopped and the quota is about to be released.
      return patch.build();
    }
    if (missing > 0) {
      Optional<Condition> evicted =
          workload.status().condition("Evicted").filter(it -> workload.evicted());
      String reason = evicted.map(Condition::reason).orElse("PodsFailed");
      String why = evicted.map(Condition::message).orElse("Pods failed or were deleted");
      return patch
          .condition(WAITING, true, reason, why + "; pods to be replaced: " + missing)
          .build();
    }
    if (workload.status().isTrue(WAITING) && !situation.group().pods().isEmpty()) {
      patch.condition(WAITING, false, "PodsReady", "All pods of the group are there");
    }
    return patch.build();
  }

  /** The second phase of an eviction: stops the pods, and releases the quota when they are gone. */
  private List<PodGroupAction> evicted(PodGroupContext situation, CachedWorkload workload) {
    PodGroup group = situation.group();
    Condition evicted = workload.status().condition("Evicted").orElseThrow();
    List<PodGroupAction> stops =
        PodActionExecutor.evict(
            workload.quotaReserved() ? group.startedAndKept() : group.startedWithoutQuota(),
            evicted);
    if (!stops.isEmpty()) {
      return stops;
    }
    if (!group.active().isEmpty()) {
      return untilOverdue(situation);
    }
    CachedJob job = group.asJob();
    if (workload.quotaReserved()) {
      ObjectNode status =
          WorkloadStatuses.reservationDropped(
              workload,
              evicted,
              WorkloadStatuses.REQUEUED_AT_ONCE.contains(evicted.reason()),
              options.podsReady(workload),
              situation.now());
      return status(job, workload, status, "reservation dropped");
    }
    // What makes the pods of a set would make new ones, which would be deleted at once, and so on.
    Optional<JobAction> retention =
        group.hasParent() ? Optional.empty() : Retention.of(workload, options, situation.now());
    return retention.isPresent()
        ? retained(group, retention.get())
        : synchronize(situation, workload);
  }

  /** Deletes the pods of a group that ends, and lets those go that an eviction has deleted. */
  private static List<PodGroupAction> retained(PodGroup group, JobAction retention) {
    List<PodGroupAction> steps = new ArrayList<>();
    if (retention instanceof JobAction.DeleteJob) {
      steps.addAll(
          PodActionExecutor.release(
              group.pods().stream().filter(pod -> pod.job().deleting()).toList()));
    }
    group.pods().stream()
        .filter(pod -> !pod.job().deleting())
        .forEach(pod -> steps.add(new PodGroupAction(pod.job(), retention)));
    return steps;
  }

  private List<PodGroupAction> admitted(PodGroupContext situation, CachedWorkload workload) {
    List<CachedPod> waiting = situation.group().waiting();
    List<PodGroupAction> steps = new ArrayList<>();
    if (!situation.elsewhere() && !waiting.isEmpty()) {
      steps.addAll(writable(situation, making.start(situation, workload, waiting)));
    }
    if (steps.stream().allMatch(step -> step.action() instanceof Warn)) {
      steps.addAll(synchronize(situation, workload));
    }
    return steps;
  }

  private List<PodGroupAction> waiting(PodGroupContext situation, CachedWorkload workload) {
    List<PodGroupAction> stops =
        writable(
            situation,
            PodActionExecutor.stop(
                situation.group().startedWithoutQuota(),
                StopReason.NOT_ADMITTED,
                "Workload " + workload.id() + " is not admitted"));
    return stops.isEmpty() ? synchronize(situation, workload) : stops;
  }

  /**
   * Updates the Workload of a changed group; a prebuilt Workload is changed by its creator only.
   */
  private List<PodGroupAction> synchronize(PodGroupContext situation, CachedWorkload workload) {
    PodGroup group = situation.group();
    if (group.prebuilt() || group.serving() || group.pods().isEmpty()) {
      return List.of();
    }
    CachedJob job = group.asJob();
    ReconcileContext common =
        new ReconcileContext(
            job,
            situation.managementStatus(),
            List.of(workload),
            Optional.empty(),
            situation.flavors(),
            situation.priorities(),
            situation.now());
    return synchronizer.synchronize(common, workload).stream()
        .map(action -> new PodGroupAction(job, action))
        .toList();
  }

  /** Marks the Workload of a group finished. */
  static PodGroupAction finish(
      PodGroupContext situation, CachedWorkload workload, String reason, String message) {
    return new PodGroupAction(
        situation.group().asJob(),
        new FinishWorkload(
            workload,
            WorkloadStatuses.finished(workload, reason, message, situation.now()),
            reason,
            message));
  }

  /** What is done to pods of a group, one by one. */
  private static final class PodActionExecutor {

    private PodActionExecutor() {}

    /** Takes our finalizer off those that have it. */
    static List<PodGroupAction> release(List<CachedPod> pods) {
      return pods.stream()
          .filter(PodGroupMembers::isHeld)
          .map(
              pod ->
                  new PodGroupAction(
                      pod.job(), new RemoveFinalizers(RemoveFinalizers.patchOf(pod.job()))))
          .toList();
    }

    /** Stops pods, which is the end of them. */
    static List<PodGroupAction> stop(List<CachedPod> pods, StopReason reason, String note) {
      return stop(pods, new Stop(reason, Optional.empty(), note));
    }

    /** The same for an eviction. */
    static List<PodGroupAction> evict(List<CachedPod> pods, CachedWorkload.Condition evicted) {
      return stop(pods, Stop.evicted(Optional.empty(), evicted));
    }

    private static List<PodGroupAction> stop(List<CachedPod> pods, Stop stop) {
      return pods.stream().map(pod -> new PodGroupAction(pod.job(), stop)).toList();
    }

    /** Deletes pods that the group has too many of. */
    static List<PodGroupAction> removeExcess(List<CachedPod> pods) {
      List<PodGroupAction> steps = new ArrayList<>();
      for (CachedPod pod : pods) {
        steps.addAll(release(List.of(pod)));
        if (!pod.job().deleting()) {
          steps.add(
              new PodGroupAction(
                  pod.job(),
                  new DeleteJob(
                      "ExcessPodDeleted",
                      "The group has more pods than "
                          + KueueConstants.POD_GROUP_TOTAL_COUNT
                          + " says")));
        }
      }
      return steps;
    }
  }

  /**
   * One thing to do for a group.
   *
   * @param subject the pod that it is done to; what is done to the Workload is told to people there
   */
  record PodGroupAction(CachedJob subject, JobAction action) {

    private static final String WORKLOAD = "workload";

    /**
     * What the action writes: the UID of the pod, or one constant for the Workload of the group.
     */
    String target() {
      return switch (action) {
        case JobAction.RemoveFinalizers release -> subject.ref().uid();
        case JobAction.DeleteJob delete -> subject.ref().uid();
        case JobAction.Start start -> subject.ref().uid();
        case JobAction.Stop stop -> subject.ref().uid();
        default -> WORKLOAD;
      };
    }
  }

  /**
   * All that is looked at to decide what a group of pods needs.
   *
   * @param managementStatus whether it is ours to handle
   * @param workload the Workload of the group's name, if there is one
   * @param elsewhere whether it runs in another cluster once it is admitted
   * @param unwritable UIDs of pods that could not be written or deleted just now
   */
  record PodGroupContext(
      PodGroup group,
      ManagementStatus managementStatus,
      Optional<CachedWorkload> workload,
      boolean elsewhere,
      FlavorLookup flavors,
      PriorityLookup priorities,
      Instant now,
      Set<String> unwritable) {}
}
