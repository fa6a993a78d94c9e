package dev.sluice.jobs.policy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.policy.CachedJob.UnjudgedUse;
import dev.sluice.jobs.policy.JobAction.DeleteWorkload;
import dev.sluice.jobs.policy.JobAction.FinishWorkload;
import dev.sluice.jobs.policy.JobAction.PatchStatus;
import dev.sluice.jobs.policy.JobAction.PatchWorkload;
import dev.sluice.jobs.policy.JobAction.RemoveFinalizer;
import dev.sluice.jobs.policy.JobAction.RemoveFinalizers;
import dev.sluice.jobs.policy.JobAction.Requeue;
import dev.sluice.jobs.policy.JobAction.Start;
import dev.sluice.jobs.policy.JobAction.Stop;
import dev.sluice.jobs.policy.JobAction.StopReason;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.jobs.policy.WorkloadFactory.WorkloadActions;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.status.StatusPatch;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Decides what to do about a job, from the states of the job and of its Workloads: a pure function,
 * which checks the rules in the order of docs/workload-semantics.md#reconciliation-of-jobs. It
 * returns the actions that are possible now; actions that depend on their results are decided when
 * the results are observed.
 */
public final class JobPolicy {

  private final JobIntegration integration;
  private final JobOptions options;
  private final WorkloadFactory factory;
  private final WorkloadActions workloadActions;
  private final WorkloadSynchronizer synchronizer;
  private final SlicePolicy slices;
  private final RemoteExecutionCheck remoteExecutionCheck;
  private final PrebuiltWorkloads prebuiltWorkloads;
  private final PodsReadyReport podsReady;

  /**
   * Creates the policy for jobs of one kind.
   *
   * @param integration the kind
   * @param options the options of the job framework
   * @param remoteExecutionCheck whether a status from another cluster is to be believed
   * @param prebuiltWorkloads knows Workloads that jobs name as made for them
   */
  public JobPolicy(
      JobIntegration integration,
      JobOptions options,
      RemoteExecutionCheck remoteExecutionCheck,
      PrebuiltWorkloads prebuiltWorkloads) {
    this.integration = integration;
    this.options = options;
    this.factory = new WorkloadFactory(options);
    this.workloadActions = new WorkloadActions(integration, factory);
    this.synchronizer = new WorkloadSynchronizer(options);
    this.slices = new SlicePolicy(integration, options, factory);
    this.remoteExecutionCheck = remoteExecutionCheck;
    this.prebuiltWorkloads = prebuiltWorkloads;
    this.podsReady = new PodsReadyReport(options, remoteExecutionCheck);
  }

  /** The policy where no owner has a Workload unless it is its controller. */
  public JobPolicy(
      JobIntegration integration, JobOptions options, RemoteExecutionCheck remoteExecutionCheck) {
    this(integration, options, remoteExecutionCheck, new PrebuiltWorkloads(owner -> false));
  }

  /** The name of the Workload that the framework creates for a job. */
  public String workloadName(CachedJob job) {
    return factory.name(job.ref());
  }

  /** The actions for a job; empty if nothing has to be done. */
  public List<JobAction> decide(ReconcileContext given) {
    ReconcileContext reconcileContext = MissingReference.assumed(integration, believed(given));
    if (reconcileContext.job().deleting()) {
      return leaving(reconcileContext);
    }
    return switch (reconcileContext.managementStatus()) {
      case ManagementStatus.Unmanaged unmanaged ->
          UnqueuedJobPolicy.decide(reconcileContext, options);
      case ManagementStatus.NestedTooDeep deep ->
          sentBackAnyway(reconcileContext)
              .orElseGet(
                  () ->
                      List.of(
                          new Warn(
                              "JobNestingTooDeep",
                              "more than 10 owners up the chain; not handled")));
      case ManagementStatus.ChildOfManaged child ->
          sentBackAnyway(reconcileContext).orElseGet(() -> child(reconcileContext.job(), child));
      case ManagementStatus.Own own ->
          options
              .clusterState()
              .unjudged()
              .refusal(reconcileContext)
              .map(why -> refused(reconcileContext, why))
              .orElseGet(() -> managed(reconcileContext));
    };
  }

  private List<JobAction> managed(ReconcileContext reconcileContext) {
    return reconcileContext.job().prebuiltWorkload().isEmpty()
            || !integration.acceptsPrebuiltWorkload()
        ? own(reconcileContext)
        : prebuilt(reconcileContext);
  }

  /**
   * A job that may not use what it names: one that has a Workload keeps what that uses, all others
   * get none.
   */
  private List<JobAction> refused(ReconcileContext reconcileContext, String why) {
    CachedJob job = reconcileContext.job();
    Optional<CachedWorkload> present = UnjudgedUse.present(reconcileContext);
    if (present.isPresent()) {
      return managed(reconcileContext.with(job.using(present.get())));
    }
    if (!reconcileContext.owned().isEmpty() || job.state().end().isPresent()) {
      return own(reconcileContext);
    }
    if (notStopped(job)) {
      return List.of(stop(StopReason.NO_MATCHING_WORKLOAD, Optional.empty(), why));
    }
    return job.state().active()
        ? List.of()
        : WorkloadActions.awaited(reconcileContext, new Warn(JobIntakePolicy.REFUSED, why));
  }

  /**
   * Replaces the job's status by the status of its copy in a worker cluster, if the job runs there.
   */
  private ReconcileContext believed(ReconcileContext given) {
    return given
        .job()
        .remoteStatus()
        .filter(status -> remoteExecutionCheck.isTelling(given.job(), given.owned()))
        .map(status -> given.with(given.job().withState(status)))
        .orElse(given);
  }

  /**
   * What an eviction leads to where the job isn't queued by itself any more, and has quota from
   * before: it is being deleted, which somebody's finalizer may draw out, it has become a part of
   * another job, or names a prebuilt Workload from now on. It is stopped, and its Workloads end
   * without quota. Empty if none is evicted. Of a job that is being deleted the templates aren't
   * restored, since nobody starts it again, and its status isn't asked, since its controller may
   * write none any more: pods that run keep a Workload charged that has ended.
   */
  private Optional<List<JobAction>> sentBackAnyway(ReconcileContext reconcileContext) {
    List<CachedWorkload> charged =
        reconcileContext.owned().stream()
            .filter(workload -> workload.quotaReserved() && !workload.finished())
            .toList();
    if (charged.isEmpty() || !charged.stream().allMatch(CachedWorkload::evicted)) {
      return Optional.empty();
    }
    CachedWorkload workload = charged.getFirst();
    CachedJob job = reconcileContext.job();
    if (job.state().end().isPresent()) {
      return Optional.of(List.of(finish(reconcileContext, workload, job.state().end().get())));
    }
    if (job.deleting() ? !job.state().suspended() : notStopped(job)) {
      Condition evicted = workload.status().condition("Evicted").orElseThrow();
      Optional<CachedWorkload> original = Optional.of(workload).filter(any -> !job.deleting());
      return Optional.of(List.of(Stop.evicted(original, evicted)));
    }
    boolean runs =
        job.deleting()
            ? options.clusterState().runningPods().applyAsInt(job.ref()) > 0
            : job.state().active();
    return Optional.of(runs ? List.of() : List.of(evictedForGood(reconcileContext, workload)));
  }

  /**
   * A job that is being deleted: its Workloads and the job lose their finalizers; an evicted one is
   * stopped, too. The quota of an evicted job of a kind that is stopped by deletion is released
   * when its pods are gone, or at the end of the deletion's grace period; with the gate {@code
   * FastQuotaReleaseInPodIntegration} at once, whoever deleted it.
   */
  private List<JobAction> leaving(ReconcileContext reconcileContext) {
    CachedJob job = reconcileContext.job();
    if (options.on(FeatureGate.DEFER_RAY_SERVICE_FINALIZATION_FOR_REDIS_CLEANUP)
        && job.state().handling().cleansUp()) {
      return List.of();
    }
    Optional<CachedWorkload> charged =
        reconcileContext.owned().stream()
            .filter(workload -> integration.ending().isPresent() && !workload.finished())
            .filter(CachedWorkload::quotaReserved)
            .findFirst();
    Optional<CachedWorkload> sentBack = charged.filter(CachedWorkload::evicted);
    Instant due = job.deletionTime().orElseThrow();
    boolean fast = options.on(FeatureGate.FAST_QUOTA_RELEASE_IN_POD_INTEGRATION);
    boolean running = job.state().active() && !fast && reconcileContext.now().isBefore(due);
    if (sentBack.isPresent() && !running) {
      return List.of(evictedForGood(reconcileContext, sentBack.get()));
    }
    if (fast && charged.isPresent()) {
      return List.of(
          finish(
              reconcileContext,
              charged.get(),
              KueueConstants.OWNER_NOT_FOUND,
              "The pod is being deleted"));
    }
    List<JobAction> actions = new ArrayList<>(releaseOwner(reconcileContext.owned()));
    actions.addAll(release(job));
    if (integration.ending().isEmpty()) {
      sentBackAnyway(reconcileContext).ifPresent(actions::addAll);
    }
    if (sentBack.isPresent()) {
      actions.add(new Requeue(Duration.between(reconcileContext.now(), due)));
    }
    return actions;
  }

  /** Removes the project's finalizer from a job, if the job has it. */
  private static List<JobAction> release(CachedJob job) {
    if (!job.finalizers().contains(KueueConstants.MANAGED)) {
      return List.of();
    }
    return List.of(new RemoveFinalizers(RemoveFinalizers.patchOf(job)));
  }

  /** Removes the project's finalizer from the Workloads that have it. */
  static List<JobAction> releaseOwner(List<CachedWorkload> workloads) {
    return workloads.stream()
        .filter(CachedWorkload::finalized)
        .<JobAction>map(RemoveFinalizer::new)
        .toList();
  }

  private static List<JobAction> child(CachedJob job, ManagementStatus.ChildOfManaged child) {
    if (child.ancestorAdmitted() || job.state().suspended() || job.state().end().isPresent()) {
      return List.of();
    }
    return List.of(
        new Stop(StopReason.OWNER_NOT_ADMITTED, Optional.empty(), "Its owner is not admitted"));
  }

  private List<JobAction> prebuilt(ReconcileContext reconcileContext) {
    CachedJob job = reconcileContext.job();
    Optional<CachedWorkload> prebuilt = reconcileContext.prebuilt();
    Optional<CachedWorkload> free = prebuilt.filter(prebuiltWorkloads::isFree);
    Optional<PatchWorkload> adoption = free.flatMap(found -> synchronizer.adopt(job, found));
    if (adoption.isPresent()) {
      return List.of(adoption.get());
    }
    boolean ours =
        prebuilt
            .flatMap(CachedWorkload::owner)
            .filter(owner -> owner.uid().equals(job.ref().uid()))
            .isPresent();
    if (ours) {
      return own(reconcileContext);
    }
    Optional<List<JobAction>> ofBefore = sentBackAnyway(reconcileContext);
    if (ofBefore.isPresent()) {
      return ofBefore.get();
    }
    if (job.state().end().isPresent()) {
      return release(job);
    }
    if (notStopped(job)) {
      return List.of(stop(StopReason.NO_MATCHING_WORKLOAD, Optional.empty(), noWorkload(job)));
    }
    List<JobAction> ofBeforeIt = job.state().active() ? List.of() : unnamed(reconcileContext);
    return ofBeforeIt.isEmpty()
        ? free.map(found -> synchronizer.admittedForTooLong(reconcileContext, found))
            .orElseGet(() -> prebuiltWorkloads.awaited(prebuilt, WorkloadActions.RETRY))
        : ofBeforeIt;
  }

  /** Deletes what a stopped job had before it named a Workload: nobody would start it with that. */
  private static List<JobAction> unnamed(ReconcileContext reconcileContext) {
    return reconcileContext.owned().stream()
        .filter(workload -> !workload.deleting() && !workload.finished())
        .<JobAction>map(workload -> new DeleteWorkload(workload, "the job names another Workload"))
        .toList();
  }

  private List<JobAction> own(ReconcileContext given) {
    SlicePolicy.Decision decision = slices.decide(given);
    if (!decision.actions().isEmpty()) {
      return decision.actions();
    }
    List<JobAction> actions = ofWorkload(decision.context());
    List<JobAction> rest = actions.isEmpty() ? slices.pods(decision.context()) : actions;
    if (decision.growth().isEmpty() || rest.isEmpty()) {
      return rest.isEmpty() ? decision.growth() : rest;
    }
    return Stream.concat(Stream.of(new JobAction.Attempt(decision.growth())), rest.stream())
        .toList();
  }

  private List<JobAction> ofWorkload(ReconcileContext reconcileContext) {
    CachedJob job = reconcileContext.job();
    OwnedWorkloads workloads = OwnedWorkloads.of(reconcileContext, options);
    if (workloads.match().isEmpty() && !workloads.leaving().isEmpty()) {
      return deleted(job, workloads);
    }
    List<JobAction> actions = new ArrayList<>(releaseOwner(workloads.leaving()));
    actions.addAll(
        workloads.match().isPresent()
            ? withWorkload(reconcileContext, workloads, workloads.match().get())
            : withoutWorkload(reconcileContext, workloads));
    return actions;
  }

  /** Stops a job whose Workload is being deleted; then the Workload loses its finalizer. */
  private List<JobAction> deleted(CachedJob job, OwnedWorkloads workloads) {
    if (job.state().end().isEmpty() && notStopped(job)) {
      return List.of(
          stop(StopReason.WORKLOAD_DELETED, workloads.original(), "Its Workload is being deleted"));
    }
    boolean running = job.state().end().isEmpty() && job.state().active();
    return running ? List.of() : releaseOwner(workloads.leaving());
  }

  private List<JobAction> withoutWorkload(
      ReconcileContext reconcileContext, OwnedWorkloads workloads) {
    CachedJob job = reconcileContext.job();
    if (job.state().end().isPresent()) {
      return release(job);
    }
    if (notStopped(job)) {
      String why = noWorkload(job);
      String difference =
          workloads
              .original()
              .map(workload -> WorkloadEquivalence.difference(job, workload, options))
              .orElse("");
      return List.of(
          stop(
              StopReason.NO_MATCHING_WORKLOAD,
              workloads.original(),
              difference.isEmpty() ? why : why + ": " + difference));
    }
    if (!workloads.duplicates().isEmpty()) {
      return outOfSync(reconcileContext, workloads.duplicates());
    }
    return job.state().active()
        ? List.of()
        : MissingReference.awaited(integration, reconcileContext)
            .orElseGet(() -> workloadActions.create(reconcileContext, slices.isElastic(job)));
  }

  private List<JobAction> outOfSync(
      ReconcileContext reconcileContext, List<CachedWorkload> strays) {
    Optional<CachedWorkload> prebuilt =
        strays.stream().filter(reconcileContext.job()::names).findFirst();
    if (prebuilt.isPresent()) {
      return List.of(
          finish(
              reconcileContext,
              prebuilt.get(),
              "OutOfSync",
              "The prebuilt workload is out of sync"));
    }
    CachedWorkload first = strays.getFirst();
    if (strays.size() == 1 && !first.quotaReserved() && !first.finished()) {
      return first.status().reclaimablePods().isEmpty()
          ? workloadActions.rewrite(
              reconcileContext,
              first,
              "Updated Workload " + first.id() + " to what the job says now")
          : List.of(WorkloadStatuses.withoutReclaimable(first));
    }
    return strays.stream()
        .<JobAction>map(stray -> new DeleteWorkload(stray, DeleteWorkload.NOT_MATCHING))
        .toList();
  }

  private List<JobAction> withWorkload(
      ReconcileContext reconcileContext, OwnedWorkloads workloads, CachedWorkload workload) {
    CachedJob job = reconcileContext.job();
    List<JobAction> strays =
        workloads.duplicates().stream()
            .<JobAction>map(stray -> new DeleteWorkload(stray, "the job has another Workload"))
            .toList();
    if (!strays.isEmpty()) {
      return strays;
    }
    if (workload.finished()) {
      List<JobAction> actions = new ArrayList<>(releaseOwner(List.of(workload)));
      actions.addAll(release(job));
      return actions;
    }
    Optional<List<JobAction>> held = JobHold.decide(reconcileContext, workload, options);
    if (held.isPresent()) {
      return held.get();
    }
    if (job.state().end().isPresent()) {
      return List.of(ended(reconcileContext, workload, job.state().end().get()));
    }
    if (job.state().stopUnfinished()) {
      return List.of(stop(stopReason(workload), workloads.original(), "Stopping is completed"));
    }
    if (workload.evicted()) {
      return evicted(reconcileContext, workload);
    }
    List<JobAction> actions = new ArrayList<>(reclaim(job, workload));
    if (actions.isEmpty()) {
      actions.addAll(podsReady.decide(reconcileContext, workload));
    }
    if (actions.isEmpty()) {
      actions.addAll(queued(reconcileContext, workload));
    }
    return actions.isEmpty() && integration.ending().isPresent() && options.podsReady(workload)
        ? WorkloadStatuses.podsWait(workload, reconcileContext.now())
        : actions;
  }

  private static StopReason stopReason(CachedWorkload workload) {
    return workload.evicted() ? StopReason.WORKLOAD_EVICTED : StopReason.NOT_ADMITTED;
  }

  private List<JobAction> reclaim(CachedJob job, CachedWorkload workload) {
    boolean stopped = job.state().suspended() && !remoteExecutionCheck.runs(job, workload);
    return stopped || !workload.admitted() ? List.of() : reclaimed(job, workload);
  }

  /** The write of pods that are done. */
  private List<JobAction> reclaimed(CachedJob job, CachedWorkload workload) {
    return options.on(FeatureGate.RECLAIMABLE_PODS)
        ? WorkloadStatuses.reclaimable(workload, job.state().reclaimable()).stream()
            .<JobAction>map(status -> new PatchStatus(workload, status, "reclaimable pods"))
            .toList()
        : List.of();
  }

  /**
   * The second phase of an eviction: stops the job, and releases the quota when the pods of the job
   * are gone. The order of docs/workload-semantics.md#reconciliation-of-jobs has {@code
   * reclaimablePods} and {@code PodsReady} before the eviction. They are written here, too, but
   * where they delay neither the stop nor the release, and a refused write of them can't prevent
   * these: the next start needs no quota for pods that were done before the job had stopped.
   */
  private List<JobAction> evicted(ReconcileContext reconcileContext, CachedWorkload workload) {
    CachedJob job = reconcileContext.job();
    Condition evicted = workload.status().condition("Evicted").orElseThrow();
    if (!job.state().suspended()) {
      return List.of(Stop.evicted(workload));
    }
    if (job.state().active()) {
      return podsReady.decide(reconcileContext, workload);
    }
    if (workload.quotaReserved()) {
      return dropReservation(reconcileContext, workload, evicted);
    }
    Optional<JobAction> retention = Retention.of(workload, options, reconcileContext.now());
    if (retention.isPresent()) {
      return List.of(retention.get());
    }
    List<JobAction> done = reclaimed(job, workload);
    return done.isEmpty() ? synchronizer.synchronize(reconcileContext, workload) : done;
  }

  private List<JobAction> dropReservation(
      ReconcileContext reconcileContext, CachedWorkload workload, Condition evicted) {
    ObjectNode status =
        WorkloadStatuses.reservationDropped(
            workload,
            evicted,
            WorkloadStatuses.REQUEUED_AT_ONCE.contains(evicted.reason()),
            options.podsReady(workload),
            reconcileContext.now());
    return List.of(new PatchStatus(workload, status, "reservation dropped"));
  }

  /**
   * The second phase of the eviction of a job that was deleted to stop it: the quota is released,
   * and the Workload ends.
   */
  private PatchStatus evictedForGood(ReconcileContext context, CachedWorkload workload) {
    ObjectNode status =
        WorkloadStatuses.reservationDroppedForGood(
            workload,
            !options.on(FeatureGate.SKIP_REASSIGNMENT_FOR_POD_OWNED_WORKLOADS),
            context.now());
    return new PatchStatus(workload, status, "reservation dropped and finished");
  }

  private List<JobAction> queued(ReconcileContext reconcileContext, CachedWorkload workload) {
    boolean suspended = reconcileContext.job().state().suspended();
    if (workload.admitted()) {
      return suspended && !remoteExecutionCheck.runs(reconcileContext.job(), workload)
          ? start(reconcileContext, workload)
          : synchronizer.synchronize(reconcileContext, workload);
    }
    return suspended
        ? synchronizer.synchronize(reconcileContext, workload)
        : List.of(
            stop(
                StopReason.NOT_ADMITTED,
                Optional.of(workload),
                "Workload " + workload.id() + " is not admitted"));
  }

  private List<JobAction> start(ReconcileContext reconcileContext, CachedWorkload workload) {
    CachedWorkload.Admission admission = workload.status().admission().orElseThrow();
    Optional<List<JobAction>> awaited = MissingReference.awaited(integration, reconcileContext);
    if (awaited.isPresent()) {
      return awaited.get();
    }
    try {
      Optional<List<PodSetInfo>> starts =
          PodSetInfos.of(workload, admission, reconcileContext.flavors(), options);
      if (starts.isEmpty()) {
        return List.of(new Requeue(Duration.ofSeconds(1)));
      }
      if (starts.get().size() != reconcileContext.job().podSets().size()) {
        throw new StartConflictException(
            "the job has %d pod sets, but %d were admitted"
                .formatted(reconcileContext.job().podSets().size(), starts.get().size()));
      }
      NativePodGroups podGroups =
          NativePodGroups.of(reconcileContext.job(), workload, gated(starts.get()), options);
      List<JobPatch> patches =
          integration.start(reconcileContext.job().object(), podGroups.podSetInfos());
      List<JobAction> actions = new ArrayList<>(podGroups.actions());
      actions.add(
          new Start(workload, patches, "Admitted by clusterQueue " + admission.clusterQueue()));
      return actions;
    } catch (StartConflictException conflict) {
      return List.of(finish(reconcileContext, workload, "FailedToStart", conflict.conflict()));
    }
  }

  /** Marks an admitted Workload finished as its job ended, and says that its pods were ready. */
  private FinishWorkload ended(
      ReconcileContext context, CachedWorkload workload, JobState.End end) {
    FinishWorkload finish = finish(context, workload, end);
    StatusPatch patch =
        StatusPatch.of(workload, context.now())
            .condition("Finished", true, finish.reason(), finish.message());
    return new FinishWorkload(
        workload,
        podsReady.withEnd(patch, context, workload).build(),
        finish.reason(),
        finish.message());
  }

  /** Pods of an elastic job whose number never changes wait for no gate. */
  private List<PodSetInfo> gated(List<PodSetInfo> starts) {
    return starts.stream()
        .map(
            start ->
                integration.keepsSize(start.name())
                    ? start.withoutGate(KueueConstants.ELASTIC_JOB)
                    : start)
        .toList();
  }

  /** Marks a Workload finished as its job ended. */
  static FinishWorkload finish(
      ReconcileContext reconcileContext, CachedWorkload workload, JobState.End end) {
    String reason = end.succeeded() ? "Succeeded" : "Failed";
    return finish(reconcileContext, workload, reason, end.message());
  }

  private static FinishWorkload finish(
      ReconcileContext reconcileContext, CachedWorkload workload, String reason, String message) {
    ObjectNode status =
        WorkloadStatuses.finished(workload, reason, message, reconcileContext.now());
    return new FinishWorkload(workload, status, reason, message);
  }

  private static Stop stop(StopReason reason, Optional<CachedWorkload> original, String note) {
    return new Stop(reason, original, note);
  }

  private static boolean notStopped(CachedJob job) {
    return !job.state().suspended() || job.state().stopUnfinished();
  }

  private static String noWorkload(CachedJob job) {
    return "No Workload matches what " + job.ref() + " says";
  }

  /**
   * The Workloads of a job, sorted by what they are good for.
   *
   * @param match the one that says what the job says
   * @param duplicates others that live
   * @param leaving those that are being deleted
   */
  record OwnedWorkloads(
      Optional<CachedWorkload> match,
      List<CachedWorkload> duplicates,
      List<CachedWorkload> leaving) {

    /** Sorts them; of a job that names a prebuilt one that is its own, no other one matches. */
    static OwnedWorkloads of(ReconcileContext reconcileContext, JobOptions options) {
      CachedJob job = reconcileContext.job();
      Optional<CachedWorkload> named =
          reconcileContext.owned().stream().filter(job::names).findFirst();
      List<CachedWorkload> strays = new ArrayList<>();
      List<CachedWorkload> leaving = new ArrayList<>();
      Optional<CachedWorkload> match = Optional.empty();
      for (CachedWorkload workload : reconcileContext.owned()) {
        if (workload.deleting()) {
          leaving.add(workload);
        } else if (match.isEmpty()
            && named.filter(other -> other != workload).isEmpty()
            && serves(job, workload, options)) {
          match = Optional.of(workload);
        } else {
          strays.add(workload);
        }
      }
      return new OwnedWorkloads(match, strays, leaving);
    }

    /** What has ended on both sides is not taken apart any more, whatever it says. */
    private static boolean serves(CachedJob job, CachedWorkload workload, JobOptions options) {
      return (job.state().end().isPresent() && workload.finished())
          || WorkloadEquivalence.matches(job, workload, options);
    }

    /** The Workload that knows how the job's templates looked before it was started. */
    Optional<CachedWorkload> original() {
      List<CachedWorkload> candidates = new ArrayList<>();
      match.ifPresent(candidates::add);
      candidates.addAll(duplicates);
      candidates.addAll(leaving);
      Optional<CachedWorkload> reserving =
          candidates.stream().filter(CachedWorkload::quotaReserved).findFirst();
      return reserving.or(() -> candidates.stream().findFirst());
    }
  }

  /** Whether, and through whom, a job is the framework's to handle. */
  public sealed interface ManagementStatus {

    /** Its namespace is not selected, or nothing says that it is managed. */
    record Unmanaged() implements ManagementStatus {}

    /** It stands for itself: it has a Workload of its own. */
    record Own() implements ManagementStatus {}

    /** An owner up the chain is managed, and has the Workload for both. */
    record ChildOfManaged(boolean ancestorAdmitted) implements ManagementStatus {}

    /** Its chain of owners is longer than anybody is willing to follow. */
    record NestedTooDeep() implements ManagementStatus {}
  }
}
