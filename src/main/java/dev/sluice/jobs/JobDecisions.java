package dev.sluice.jobs;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Keys;
import dev.sluice.jobs.JobAction.CreateWorkload;
import dev.sluice.jobs.JobAction.DeleteWorkload;
import dev.sluice.jobs.JobAction.FinishWorkload;
import dev.sluice.jobs.JobAction.LookAgain;
import dev.sluice.jobs.JobAction.PatchStatus;
import dev.sluice.jobs.JobAction.PatchWorkload;
import dev.sluice.jobs.JobAction.ReleaseJob;
import dev.sluice.jobs.JobAction.RemoveFinalizer;
import dev.sluice.jobs.JobAction.Start;
import dev.sluice.jobs.JobAction.Stop;
import dev.sluice.jobs.JobAction.StopReason;
import dev.sluice.jobs.JobAction.Warn;
import dev.sluice.workloads.Workload;
import dev.sluice.workloads.Workload.Condition;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * What a job needs, given how it and its Workload stand: a pure function, in the contract's order
 * (Workload life cycle, section 8). It answers with what can be done now; what depends on its
 * outcome is decided when the outcome is seen.
 */
public final class JobDecisions {

  private static final Duration RETRY = Duration.ofSeconds(5);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final JobAdapter adapter;
  private final JobRules rules;
  private final WorkloadComposer composer;
  private final WorkloadUpkeep upkeep;
  private final Elsewhere elsewhere;

  /** For jobs of the adapter's kind, under the given rules. */
  public JobDecisions(JobAdapter adapter, JobRules rules, Elsewhere elsewhere) {
    this.adapter = adapter;
    this.rules = rules;
    this.composer = new WorkloadComposer(rules);
    this.upkeep = new WorkloadUpkeep();
    this.elsewhere = elsewhere;
  }

  /** The name of the Workload that is made for a job. */
  String workloadName(JobView job) {
    return composer.name(job.ref());
  }

  /** What to do; nothing when all is as it should be. */
  public List<JobAction> decide(Situation given) {
    Situation situation = believed(given);
    if (situation.job().deleting()) {
      return leaving(situation);
    }
    return switch (situation.standing()) {
      case Standing.Unmanaged unmanaged -> WithoutQueue.decide(situation, rules);
      case Standing.NestedTooDeep deep ->
          List.of(new Warn("JobNestingTooDeep", "more than 10 owners up the chain; not handled"));
      case Standing.ChildOfManaged child -> child(situation.job(), child);
      case Standing.Own own ->
          situation.job().prebuiltWorkload().isEmpty() ? own(situation) : prebuilt(situation);
    };
  }

  /** With the job's status in another cluster, where it runs there. */
  private Situation believed(Situation given) {
    return given
        .job()
        .told()
        .filter(told -> elsewhere.isTelling(given.job(), given.owned()))
        .map(told -> given.with(given.job().standing(told)))
        .orElse(given);
  }

  /**
   * A job that is being deleted needs no guarding. One that can only be stopped by its deletion
   * gives its quota back when its pods are gone, or should be by now.
   */
  private List<JobAction> leaving(Situation situation) {
    JobView job = situation.job();
    Optional<Workload> sentBack =
        situation.owned().stream()
            .filter(workload -> adapter.ending().isPresent() && !workload.finished())
            .filter(workload -> workload.evicted() && workload.quotaReserved())
            .findFirst();
    Instant due = job.deletionTime().orElseThrow();
    boolean running = job.state().active() && situation.now().isBefore(due);
    if (sentBack.isPresent() && !running) {
      return dropReservation(situation, sentBack.get(), false);
    }
    List<JobAction> actions = new ArrayList<>(letGoOf(situation.owned()));
    actions.addAll(release(job));
    if (sentBack.isPresent()) {
      actions.add(new LookAgain(Duration.between(situation.now(), due)));
    }
    return actions;
  }

  /** Takes our finalizer off a job, if its kind has one. */
  private static List<JobAction> release(JobView job) {
    if (!job.finalizers().contains(Keys.MANAGED)) {
      return List.of();
    }
    return List.of(new ReleaseJob(ReleaseJob.patchOf(job)));
  }

  /** Takes the finalizers off Workloads that have them. */
  static List<JobAction> letGoOf(List<Workload> workloads) {
    return workloads.stream()
        .filter(Workload::finalized)
        .<JobAction>map(RemoveFinalizer::new)
        .toList();
  }

  private static List<JobAction> child(JobView job, Standing.ChildOfManaged child) {
    if (child.ancestorAdmitted() || job.state().suspended() || job.state().end().isPresent()) {
      return List.of();
    }
    return List.of(
        new Stop(StopReason.NOT_ADMITTED, Optional.empty(), "Its owner is not admitted"));
  }

  private List<JobAction> prebuilt(Situation situation) {
    JobView job = situation.job();
    Optional<Workload> prebuilt = situation.prebuilt();
    if (prebuilt.filter(PrebuiltWorkloads::isFree).isPresent()) {
      return List.of(PrebuiltWorkloads.adopt(prebuilt.get(), job));
    }
    boolean ours =
        prebuilt
            .flatMap(Workload::owner)
            .filter(owner -> owner.uid().equals(job.ref().uid()))
            .isPresent();
    if (ours) {
      return own(situation);
    }
    if (job.state().end().isPresent()) {
      return release(job);
    }
    return unstopped(job)
        ? List.of(stop(StopReason.NO_MATCHING_WORKLOAD, Optional.empty(), noWorkload(job)))
        : PrebuiltWorkloads.awaited(prebuilt, RETRY);
  }

  private List<JobAction> own(Situation situation) {
    JobView job = situation.job();
    OwnWorkloads workloads = OwnWorkloads.of(situation, rules);
    if (workloads.match().isEmpty() && !workloads.leaving().isEmpty()) {
      return deleted(job, workloads);
    }
    List<JobAction> actions = new ArrayList<>(letGoOf(workloads.leaving()));
    actions.addAll(
        workloads.match().isPresent()
            ? withWorkload(situation, workloads, workloads.match().get())
            : withoutWorkload(situation, workloads));
    return actions;
  }

  /** The Workload is being deleted, or must go first: the job stops, then it is let go. */
  private List<JobAction> deleted(JobView job, OwnWorkloads workloads) {
    if (job.state().end().isEmpty() && unstopped(job)) {
      return List.of(
          stop(StopReason.WORKLOAD_DELETED, workloads.original(), "Its Workload is being deleted"));
    }
    boolean running = job.state().end().isEmpty() && job.state().active();
    return running ? List.of() : letGoOf(workloads.leaving());
  }

  private List<JobAction> withoutWorkload(Situation situation, OwnWorkloads workloads) {
    JobView job = situation.job();
    if (job.state().end().isPresent()) {
      return release(job);
    }
    if (unstopped(job)) {
      return List.of(stop(StopReason.NO_MATCHING_WORKLOAD, workloads.original(), noWorkload(job)));
    }
    if (!workloads.strays().isEmpty()) {
      return outOfStep(situation, workloads.strays());
    }
    return job.state().active() ? List.of() : create(situation);
  }

  private List<JobAction> outOfStep(Situation situation, List<Workload> strays) {
    Workload first = strays.getFirst();
    if (!situation.job().prebuiltWorkload().isEmpty()) {
      return List.of(finish(situation, first, "OutOfSync", "The prebuilt workload is out of sync"));
    }
    if (strays.size() == 1 && !first.quotaReserved() && !first.finished()) {
      return withPriority(
          situation,
          priority ->
              new PatchWorkload(
                  first,
                  composer.rewrite(situation.job(), templates(situation.job()), priority),
                  "Updated Workload " + first.id() + " to what the job says now"));
    }
    return strays.stream()
        .<JobAction>map(stray -> new DeleteWorkload(stray, "it does not match its job any more"))
        .toList();
  }

  private List<JobAction> create(Situation situation) {
    JobView job = situation.job();
    return withPriority(
        situation, priority -> new CreateWorkload(composer.compose(job, templates(job), priority)));
  }

  private List<JobAction> withWorkload(
      Situation situation, OwnWorkloads workloads, Workload workload) {
    JobView job = situation.job();
    List<JobAction> strays =
        workloads.strays().stream()
            .<JobAction>map(stray -> new DeleteWorkload(stray, "the job has another Workload"))
            .toList();
    if (!strays.isEmpty()) {
      return strays;
    }
    if (workload.finished()) {
      List<JobAction> actions = new ArrayList<>(letGoOf(List.of(workload)));
      actions.addAll(release(job));
      return actions;
    }
    if (job.state().end().isPresent()) {
      return List.of(finish(situation, workload, job.state().end().get()));
    }
    if (job.state().stopUnfinished()) {
      return List.of(stop(stopReason(workload), workloads.original(), "Stopping is completed"));
    }
    if (workload.evicted()) {
      return evicted(situation, workload);
    }
    List<JobAction> actions = new ArrayList<>(reclaim(job, workload));
    if (actions.isEmpty()) {
      actions.addAll(podsReady(situation, workload));
    }
    return actions.isEmpty() ? inTheQueue(situation, workload) : actions;
  }

  private List<JobAction> podsReady(Situation situation, Workload workload) {
    if (!rules.podsReady()) {
      return List.of();
    }
    JobState state = situation.job().state();
    ObjectNode status =
        WorkloadStatuses.podsReady(
            workload,
            state.podsReady() && (!state.suspended() || elsewhere.runs(situation.job(), workload)),
            situation.now());
    return status.isEmpty()
        ? List.of()
        : List.of(new PatchStatus(workload, status, "podsReady=" + state.podsReady()));
  }

  private static StopReason stopReason(Workload workload) {
    return workload.evicted() ? StopReason.WORKLOAD_EVICTED : StopReason.NOT_ADMITTED;
  }

  private List<JobAction> reclaim(JobView job, Workload workload) {
    Map<String, Integer> known = workload.status().reclaimablePods();
    boolean more =
        job.state().reclaimable().entrySet().stream()
            .anyMatch(pods -> pods.getValue() > known.getOrDefault(pods.getKey(), 0));
    boolean stopped = job.state().suspended() && !elsewhere.runs(job, workload);
    if (!more || stopped || !workload.admitted()) {
      return List.of();
    }
    ObjectNode status = WorkloadStatuses.reclaimable(job.state().reclaimable());
    return List.of(new PatchStatus(workload, status, "reclaimable pods"));
  }

  /** Second phase of an eviction: the job stops; when its pods are gone, so is its quota. */
  private List<JobAction> evicted(Situation situation, Workload workload) {
    JobView job = situation.job();
    Condition evicted = workload.status().condition("Evicted").orElseThrow();
    if (!job.state().suspended()) {
      return List.of(stop(StopReason.WORKLOAD_EVICTED, Optional.of(workload), evicted.message()));
    }
    if (job.state().active()) {
      return List.of();
    }
    if (workload.quotaReserved()) {
      return dropReservation(
          situation, workload, WorkloadStatuses.REQUEUED_AT_ONCE.contains(evicted.reason()));
    }
    Optional<JobAction> retention = Retention.of(workload, rules, situation.now());
    return retention.isPresent() ? List.of(retention.get()) : upkeep.inStep(situation, workload);
  }

  private List<JobAction> dropReservation(
      Situation situation, Workload workload, boolean requeued) {
    ObjectNode status =
        WorkloadStatuses.reservationDropped(
            workload,
            workload.status().condition("Evicted").orElseThrow(),
            requeued,
            rules.podsReady(),
            situation.now());
    return List.of(new PatchStatus(workload, status, "reservation dropped"));
  }

  private List<JobAction> inTheQueue(Situation situation, Workload workload) {
    boolean suspended = situation.job().state().suspended();
    if (workload.admitted()) {
      return suspended && !elsewhere.runs(situation.job(), workload)
          ? start(situation, workload)
          : upkeep.inStep(situation, workload);
    }
    return suspended
        ? upkeep.inStep(situation, workload)
        : List.of(
            stop(
                StopReason.NOT_ADMITTED,
                Optional.of(workload),
                "Workload " + workload.id() + " is not admitted"));
  }

  private List<JobAction> start(Situation situation, Workload workload) {
    Workload.Admission admission = workload.status().admission().orElseThrow();
    try {
      Optional<List<PodSetStart>> starts =
          StartPlan.of(workload, admission, situation.flavors(), rules);
      if (starts.isEmpty()) {
        return List.of(new LookAgain(Duration.ofSeconds(1)));
      }
      if (starts.get().size() != situation.job().podSets().size()) {
        throw new StartConflictException(
            "the job has %d pod sets, but %d were admitted"
                .formatted(situation.job().podSets().size(), starts.get().size()));
      }
      List<JobPatch> patches = adapter.start(object(situation.job()), starts.get());
      return List.of(
          new Start(workload, patches, "Admitted by ClusterQueue " + admission.clusterQueue()));
    } catch (StartConflictException conflict) {
      return List.of(finish(situation, workload, "FailedToStart", conflict.conflict()));
    }
  }

  private List<JobAction> withPriority(
      Situation situation, Function<PrioritySource.Found, JobAction> action) {
    return switch (PrioritySource.of(situation.job(), situation.priorities())) {
      case PrioritySource.Found found -> List.of(action.apply(found));
      case PrioritySource.Missing missing ->
          List.of(
              new Warn(
                  "WorkloadPriorityClassNotFound",
                  "%s \"%s\" does not exist".formatted(missing.kind(), missing.name())),
              new LookAgain(RETRY));
    };
  }

  /** Marks a Workload finished as its job ended. */
  static FinishWorkload finish(Situation situation, Workload workload, JobState.End end) {
    String reason = end.succeeded() ? "Succeeded" : "Failed";
    return finish(situation, workload, reason, end.message());
  }

  private static FinishWorkload finish(
      Situation situation, Workload workload, String reason, String message) {
    ObjectNode status = WorkloadStatuses.finished(workload, reason, message, situation.now());
    return new FinishWorkload(workload, status, reason, message);
  }

  private static Stop stop(StopReason reason, Optional<Workload> original, String note) {
    return new Stop(reason, original, note);
  }

  private static boolean unstopped(JobView job) {
    return !job.state().suspended() || job.state().stopUnfinished();
  }

  private static String noWorkload(JobView job) {
    return "No Workload matches what " + job.ref() + " says";
  }

  private List<PodSetTemplate> templates(JobView job) {
    return adapter.podSets(object(job));
  }

  private static ObjectNode object(JobView job) {
    try {
      return (ObjectNode) JSON.readTree(job.text());
    } catch (JsonProcessingException ownText) {
      throw new IllegalStateException("the text of " + job.ref() + " is not JSON", ownText);
    }
  }
}
