package dev.sluice.jobs.pods;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.JobAction;
import dev.sluice.jobs.JobAction.FinishWorkload;
import dev.sluice.jobs.JobAction.LookAgain;
import dev.sluice.jobs.JobAction.PatchStatus;
import dev.sluice.jobs.JobAction.RemoveFinalizer;
import dev.sluice.jobs.JobAction.StopReason;
import dev.sluice.jobs.JobAction.Warn;
import dev.sluice.jobs.JobRules;
import dev.sluice.jobs.JobState;
import dev.sluice.jobs.JobView;
import dev.sluice.jobs.Retention;
import dev.sluice.jobs.Situation;
import dev.sluice.jobs.Standing;
import dev.sluice.jobs.WorkloadStatuses;
import dev.sluice.jobs.WorkloadUpkeep;
import dev.sluice.workloads.StatusPatch;
import dev.sluice.workloads.Workload;
import dev.sluice.workloads.Workload.Condition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a group of pods needs, given how its pods and its Workload stand: a pure function (contract:
 * integrations, Pod group; Workload life cycle, section 8). It answers with what can be done now;
 * what depends on its outcome is decided when the outcome is seen.
 */
final class GroupDecisions {

  private static final String WAITING = "WaitingForReplacementPods";

  private final JobRules rules;
  private final GroupMaking making;
  private final WorkloadUpkeep upkeep = new WorkloadUpkeep();

  GroupDecisions(JobRules rules) {
    this.rules = rules;
    this.making = new GroupMaking(rules);
  }

  /** What to do; nothing when all is as it should be. */
  List<GroupStep> decide(GroupSituation situation) {
    PodGroup group = situation.group();
    if (!(situation.standing() instanceof Standing.Own)) {
      return PodSteps.release(group.pods().stream().filter(pod -> pod.job().deleting()).toList());
    }
    Optional<Workload> workload = situation.workload();
    if (workload.isEmpty()) {
      return withoutWorkload(situation);
    }
    if (!making.isOf(group, workload.get())) {
      return notOurs(situation, workload.get());
    }
    return workload.get().deleting()
        ? leaving(situation, workload.get())
        : withWorkload(situation, workload.get());
  }

  private List<GroupStep> notOurs(GroupSituation situation, Workload workload) {
    List<GroupStep> steps = new ArrayList<>(unguarded(situation.group()));
    steps.add(
        new GroupStep(
            situation.group().asJob(),
            new Warn(
                "WorkloadNameConflict",
                "Workload %s is not that of a group of pods, and has the group's name"
                    .formatted(workload.id()))));
    return steps;
  }

  /** Nobody knows why pods without Workload run, or wait at their end. */
  private static List<GroupStep> unguarded(PodGroup group) {
    List<GroupStep> steps =
        new ArrayList<>(
            PodSteps.release(
                group.pods().stream().filter(pod -> pod.ended() || pod.job().deleting()).toList()));
    steps.addAll(
        PodSteps.stop(
            group.startedAndKept(),
            StopReason.NO_MATCHING_WORKLOAD,
            "No Workload matches pod group " + group.namespace() + "/" + group.name()));
    return steps;
  }

  private List<GroupStep> withoutWorkload(GroupSituation situation) {
    PodGroup group = situation.group();
    List<GroupStep> steps = unguarded(group);
    if (!steps.isEmpty() || group.waiting().isEmpty() || group.prebuilt()) {
      return steps;
    }
    Optional<String> disagreement = group.disagreement(rules.labelKeysToCopy());
    if (disagreement.isPresent()) {
      return List.of(
          new GroupStep(group.asJob(), new Warn("ErrWorkloadCompose", disagreement.get())));
    }
    List<PodView> excess = Roster.beyond(group, group.waiting());
    return excess.isEmpty() ? making.create(situation) : PodSteps.removeExcess(excess);
  }

  /**
   * The Workload is being deleted: the pods that were started stop, then it is let go. Whether
   * there really is no pod where none is known is looked up before that, elsewhere.
   */
  private static List<GroupStep> leaving(GroupSituation situation, Workload workload) {
    PodGroup group = situation.group();
    List<GroupStep> stops =
        PodSteps.stop(
            group.startedAndKept(), StopReason.WORKLOAD_DELETED, "Its Workload is being deleted");
    if (!stops.isEmpty()) {
      return stops;
    }
    if (!group.active().isEmpty()) {
      return untilOverdue(situation);
    }
    return workload.finalized() && !group.pods().isEmpty()
        ? List.of(new GroupStep(group.asJob(), new RemoveFinalizer(workload)))
        : List.of();
  }

  private static List<GroupStep> untilOverdue(GroupSituation situation) {
    return situation.group().overdueAt().stream()
        .map(due -> Duration.between(situation.now(), due).plusMillis(1))
        .map(delay -> new GroupStep(situation.group().asJob(), new LookAgain(delay)))
        .toList();
  }

  private List<GroupStep> withWorkload(GroupSituation situation, Workload workload) {
    PodGroup group = situation.group();
    JobView job = group.asJob();
    if (workload.finished()) {
      List<GroupStep> steps = new ArrayList<>();
      if (workload.finalized()) {
        steps.add(new GroupStep(job, new RemoveFinalizer(workload)));
      }
      steps.addAll(PodSteps.release(group.pods()));
      return steps;
    }
    Optional<JobState.End> end = group.end();
    if (end.isPresent()) {
      return List.of(finish(situation, workload, "Succeeded", end.get().message()));
    }
    if (!group.pods().isEmpty() && group.isLeaving() && !workload.evicted()) {
      return PodSteps.release(group.pods());
    }
    List<GroupStep> members = members(situation, workload);
    return members.isEmpty() ? ofWorkload(situation, workload) : members;
  }

  /** Too many pods go, and so do those that others have replaced. */
  private static List<GroupStep> members(GroupSituation situation, Workload workload) {
    PodGroup group = situation.group();
    if (group.hasParent()) {
      return List.of();
    }
    List<GroupStep> steps = new ArrayList<>(PodSteps.removeExcess(Roster.beyond(group, workload)));
    steps.addAll(PodSteps.release(Roster.replaced(group, workload)));
    return steps;
  }

  private List<GroupStep> ofWorkload(GroupSituation situation, Workload workload) {
    List<GroupStep> changed = making.keepUp(situation, workload);
    if (!changed.isEmpty()) {
      return changed;
    }
    List<GroupStep> told = told(situation, workload);
    if (!told.isEmpty()) {
      return told;
    }
    if (workload.evicted()) {
      return evicted(situation, workload);
    }
    return workload.admitted() ? admitted(situation, workload) : waiting(situation, workload);
  }

  /** What the pods say of themselves, one write at a time. */
  private List<GroupStep> told(GroupSituation situation, Workload workload) {
    JobView job = situation.group().asJob();
    ObjectNode replacements = replacements(situation, workload);
    if (!replacements.isEmpty()) {
      int missing = Roster.missing(situation.group());
      return status(job, workload, replacements, "missing pods=" + missing);
    }
    Map<String, Integer> reclaimable = job.state().reclaimable();
    Map<String, Integer> known = workload.status().reclaimablePods();
    boolean more =
        reclaimable.entrySet().stream()
            .anyMatch(pods -> pods.getValue() > known.getOrDefault(pods.getKey(), 0));
    if (more && workload.admitted()) {
      return status(job, workload, WorkloadStatuses.reclaimable(reclaimable), "reclaimable pods");
    }
    if (!rules.podsReady()) {
      return List.of();
    }
    boolean ready = job.state().podsReady();
    ObjectNode status = WorkloadStatuses.podsReady(workload, ready, situation.now());
    return status.isEmpty() ? List.of() : status(job, workload, status, "podsReady=" + ready);
  }

  private static List<GroupStep> status(
      JobView job, Workload workload, ObjectNode status, String change) {
    return List.of(new GroupStep(job, new PatchStatus(workload, status, change)));
  }

  /** Whether pods have to come before it can be queued again, and why they went. */
  private static ObjectNode replacements(GroupSituation situation, Workload workload) {
    int missing = Roster.missing(situation.group());
    StatusPatch patch = StatusPatch.of(workload, situation.now());
    if (missing > 0) {
      Optional<Condition> evicted =
          workload.status().condition("Evicted").filter(it -> workload.evicted());
      String reason = evicted.map(Condition::reason).orElse("PodsFailed");
      String why = evicted.map(Condition::message).orElse("Pods failed or were deleted");
      return patch
          .condition(WAITING, true, reason, why + "; pods to be replaced: " + missing)
          .build();
    }
    if (workload.status().isTrue(WAITING)) {
      patch.condition(WAITING, false, "PodsReady", "All pods of the group are there");
    }
    return patch.build();
  }

  /** Second phase of an eviction: the pods go; when they are gone, so is the quota. */
  private List<GroupStep> evicted(GroupSituation situation, Workload workload) {
    PodGroup group = situation.group();
    Condition evicted = workload.status().condition("Evicted").orElseThrow();
    List<GroupStep> stops =
        PodSteps.stop(group.startedAndKept(), StopReason.WORKLOAD_EVICTED, evicted.message());
    if (!stops.isEmpty()) {
      return stops;
    }
    if (!group.active().isEmpty()) {
      return untilOverdue(situation);
    }
    JobView job = group.asJob();
    if (workload.quotaReserved()) {
      ObjectNode status =
          WorkloadStatuses.reservationDropped(
              workload,
              evicted,
              WorkloadStatuses.REQUEUED_AT_ONCE.contains(evicted.reason()),
              rules.podsReady(),
              situation.now());
      return status(job, workload, status, "reservation dropped");
    }
    Optional<JobAction> retention = Retention.of(workload, rules, situation.now());
    return retention.isPresent()
        ? group.pods().stream().map(pod -> new GroupStep(pod.job(), retention.get())).toList()
        : inStep(situation, workload);
  }

  private List<GroupStep> admitted(GroupSituation situation, Workload workload) {
    List<PodView> waiting = situation.group().waiting();
    return situation.elsewhere() || waiting.isEmpty()
        ? inStep(situation, workload)
        : making.start(situation, workload, waiting);
  }

  private List<GroupStep> waiting(GroupSituation situation, Workload workload) {
    List<GroupStep> stops =
        PodSteps.stop(
            situation.group().startedAndKept(),
            StopReason.NOT_ADMITTED,
            "Workload " + workload.id() + " is not admitted");
    return stops.isEmpty() ? inStep(situation, workload) : stops;
  }

  /** A Workload that others make, they change as well. */
  private List<GroupStep> inStep(GroupSituation situation, Workload workload) {
    PodGroup group = situation.group();
    if (group.prebuilt() || group.serving() || group.pods().isEmpty()) {
      return List.of();
    }
    JobView job = group.asJob();
    Situation common =
        new Situation(
            job,
            situation.standing(),
            List.of(workload),
            Optional.empty(),
            situation.flavors(),
            situation.priorities(),
            situation.now());
    return upkeep.inStep(common, workload).stream()
        .map(action -> new GroupStep(job, action))
        .toList();
  }

  /** The end of a group's Workload. */
  static GroupStep finish(
      GroupSituation situation, Workload workload, String reason, String message) {
    return new GroupStep(
        situation.group().asJob(),
        new FinishWorkload(
            workload,
            WorkloadStatuses.finished(workload, reason, message, situation.now()),
            reason,
            message));
  }
}
