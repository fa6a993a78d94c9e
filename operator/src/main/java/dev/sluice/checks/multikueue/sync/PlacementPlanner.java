package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.placement.ClusterCandidates;
import dev.sluice.checks.multikueue.placement.GroupPlacement;
import dev.sluice.checks.multikueue.placement.GroupPlacement.Choice;
import dev.sluice.checks.multikueue.placement.ManagerState;
import dev.sluice.checks.multikueue.placement.PlacementAction;
import dev.sluice.checks.multikueue.placement.WorkerState;
import dev.sluice.checks.multikueue.placement.WorkloadPlacement;
import dev.sluice.checks.multikueue.placement.WorkloadPlacement.PlacementPlan;
import dev.sluice.checks.multikueue.sync.JobGroups.GroupedJob;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.queues.cache.LocalClusters.QuotaLocation;
import dev.sluice.workload.record.CachedWorkload;
import java.io.IOException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Computes the plan for one Workload, whether the Workload is placed in the manager or in a worker.
 */
final class PlacementPlanner {

  private final WorkloadPlacement workloadPlacement;
  private final WorkloadStateReader workloadStateReader;

  PlacementPlanner(WorkloadPlacement workloadPlacement, WorkloadStateReader workloadStateReader) {
    this.workloadPlacement = workloadPlacement;
    this.workloadStateReader = workloadStateReader;
  }

  /**
   * Result of planning.
   *
   * @param placementPlan the plan
   * @param answers the workers' messages about a pending Workload; empty when no worker is
   *     nominated
   */
  record Planned(PlacementPlan placementPlan, String answers) {}

  /**
   * The plan. A Workload that waits keeps its nominations and copies until the configs are known:
   * nobody is asked, and nobody loses what was asked before.
   */
  Planned of(
      RemoteWorkloadContext context,
      ManagerState managerState,
      ClusterCandidates clusterCandidates,
      Map<String, WorkerState> workerStates) {
    if (managerState.looksForWorker() && !clusterCandidates.known()) {
      return new Planned(new PlacementPlan(List.of(), Optional.empty()), "");
    }
    List<PlacementAction> notAllowed = notAllowed(context, clusterCandidates, workerStates);
    if (!notAllowed.isEmpty()) {
      return new Planned(new PlacementPlan(notAllowed, Optional.empty()), "");
    }
    return switch (workloadStateReader.home(context)) {
      case QuotaLocation.Remote remote -> {
        PlacementPlan placementPlan =
            workloadPlacement.decide(
                managerState, clusterCandidates.allowed(), workerStates, context.now());
        yield new Planned(
            withPodStatusCleared(context, placementPlan),
            PendingSummary.of(managerState, clusterCandidates, workerStates));
      }
      case QuotaLocation.Local(String cluster) -> {
        PlacementPlan placementPlan =
            workloadPlacement.decideHere(managerState, cluster, workerStates, context.now());
        yield new Planned(withPodStatusCleared(context, placementPlan), "");
      }
      case QuotaLocation.Mixed(Set<String> flavors) -> {
        ManagerState torn = managerState.unsendable(isSplit(flavors));
        PlacementPlan placementPlan =
            workloadPlacement.decide(
                torn, clusterCandidates.allowed(), workerStates, context.now());
        yield new Planned(withPodStatusCleared(context, placementPlan), "");
      }
    };
  }

  /**
   * Withdraws the copies of a Workload that is one of several from workers that it may not use any
   * more, because another one has chosen meanwhile. An admission there doesn't count.
   */
  private static List<PlacementAction> notAllowed(
      RemoteWorkloadContext context,
      ClusterCandidates clusterCandidates,
      Map<String, WorkerState> workerStates) {
    if (!GroupLimits.isLookingForWorker(context)) {
      return List.of();
    }
    List<String> allowed = clusterCandidates.allowed();
    return workerStates.entrySet().stream()
        .filter(worker -> !allowed.contains(worker.getKey()))
        .filter(worker -> worker.getValue().connected() && worker.getValue().copy().isPresent())
        .<PlacementAction>map(worker -> new PlacementAction.Withdraw(worker.getKey()))
        .toList();
  }

  private static String isSplit(Set<String> flavors) {
    return "it got quota of this cluster and of others (flavors %s); put the resources of its ClusterQueue into one resource group"
        .formatted(String.join(", ", new TreeSet<>(flavors)));
  }

  /**
   * If the Workload is gone and no worker holds a copy of it, the plan clears the pods from its
   * job's status.
   */
  private static PlacementPlan withPodStatusCleared(
      RemoteWorkloadContext context, PlacementPlan placementPlan) {
    boolean gone =
        placementPlan.placementActions().isEmpty() && placementPlan.requeueAt().isEmpty();
    return gone && context.workload().filter(CachedWorkload::deleting).isPresent()
        ? new PlacementPlan(List.of(new PlacementAction.ClearPodStatus()), Optional.empty())
        : placementPlan;
  }

  /**
   * One text with the answers of all workers for a Workload that no worker has admitted yet. The
   * text contains no counts and no ages, so it changes only when an answer changes.
   */
  static final class PendingSummary {

    /** Separator between the answers of two workers. */
    public static final String BETWEEN = "; ";

    private static final int LONGEST = 1000;

    private PendingSummary() {}

    /** The text; empty while no worker is nominated, and when nothing is pending any more. */
    public static String of(
        ManagerState managerState,
        ClusterCandidates clusterCandidates,
        Map<String, WorkerState> workerStates) {
      boolean waits =
          managerState.looksForWorker()
              && managerState.othersReady()
              && managerState.job() instanceof ManagerState.Sendable.Yes
              && workerStates.values().stream().noneMatch(PendingSummary::runs);
      if (!waits) {
        return "";
      }
      if (clusterCandidates.configured().isEmpty()) {
        return "No worker cluster is configured";
      }
      String each =
          clusterCandidates.configured().stream()
              .map(
                  name -> name + ": " + answer(name, managerState, clusterCandidates, workerStates))
              .collect(Collectors.joining(BETWEEN));
      return clusterCandidates.allowed().isEmpty()
          ? "No worker cluster is allowed" + BETWEEN + each
          : each;
    }

    /** Whether a worker is about to be chosen: then the manager's Workload has changed already. */
    private static boolean runs(WorkerState workerState) {
      return workerState.connected()
          && workerState
              .copy()
              .filter(copy -> copy.admittedAt().isPresent() && copy.finished().isEmpty())
              .isPresent();
    }

    private static String answer(
        String name,
        ManagerState managerState,
        ClusterCandidates clusterCandidates,
        Map<String, WorkerState> workerStates) {
      Optional<String> excluded = Optional.ofNullable(clusterCandidates.excluded().get(name));
      if (excluded.isPresent()) {
        return excluded.get();
      }
      Optional<WorkerState> workerState = Optional.ofNullable(workerStates.get(name));
      if (workerState.filter(WorkerState::connected).isEmpty()) {
        return workerState
            .flatMap(WorkerState::lostSince)
            .map(since -> "not connected since " + since.truncatedTo(ChronoUnit.SECONDS))
            .orElse("not connected");
      }
      return workerState
          .flatMap(WorkerState::copy)
          .map(copy -> shortened(copy.tells()))
          .orElse(managerState.nominated().contains(name) ? "is being asked" : "not asked yet");
    }

    private static String shortened(String text) {
      return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "…";
    }
  }

  /** Limits the workers of Workloads whose job has several Workloads. */
  static final class GroupLimits {

    private static final Duration UNTIL_STOPPED = Duration.ofSeconds(2);

    private final JobGroups groups;
    private final WorkloadStateReader workloadStateReader;

    GroupLimits(JobGroups groups, WorkloadStateReader workloadStateReader) {
      this.groups = groups;
      this.workloadStateReader = workloadStateReader;
    }

    /** The workers that a Workload may use, if others of its job are considered. */
    LimitedCandidates of(RemoteWorkloadContext context, LimitedCandidates candidates)
        throws IOException {
      Optional<GroupedJob> job = JobGroups.job(context);
      if (job.isEmpty() || !isLookingForWorker(context)) {
        return candidates;
      }
      Optional<String> stopping =
          groups.stopping(job.get(), context.local()).stream()
              .flatMap(key -> workloadStateReader.holding(key).stream())
              .findFirst();
      Choice choice =
          stopping
              .<Choice>map(Choice.Follow::new)
              .orElseGet(() -> groups.choice(job.get(), context.local()));
      ClusterCandidates limited =
          GroupPlacement.limit(
              candidates.clusterCandidates(),
              choice,
              choice instanceof Choice.Free ? missing(context, job.get()) : OptionalInt.empty());
      return new LimitedCandidates(
          limited, stopping.isPresent() ? Optional.of(UNTIL_STOPPED) : candidates.requeueAfter());
    }

    /** Whether a Workload is one of several, holds quota and runs in no worker. */
    static boolean isLookingForWorker(RemoteWorkloadContext context) {
      return JobGroups.job(context).isPresent()
          && context
              .workload()
              .filter(it -> it.quotaReserved() && !it.evicted())
              .filter(it -> it.status().remotePlacement().cluster().isEmpty())
              .isPresent();
    }

    /** How many Workloads a job has yet to get before any of them may choose a worker. */
    private OptionalInt missing(RemoteWorkloadContext context, GroupedJob job) throws IOException {
      Optional<RemoteWorkloadContext.Owner> owner = context.owner();
      if (owner.isEmpty()) {
        return OptionalInt.empty();
      }
      Optional<ObjectNode> object = workloadStateReader.job(context, owner.get());
      return object.isEmpty()
          ? OptionalInt.empty()
          : OptionalInt.of(
              Math.min(
                      object.get().path("spec").path("replicas").asInt(1),
                      MultiKueueRules.MOST_WAITING_GROUPS)
                  - groups.count(job));
    }
  }

  /**
   * The workers that a Workload may use beside other Workloads of its job.
   *
   * @param clusterCandidates the workers
   * @param requeueAfter the delay after which they are determined again even without an event
   */
  record LimitedCandidates(ClusterCandidates clusterCandidates, Optional<Duration> requeueAfter) {

    /** Workers that don't depend on time. */
    static LimitedCandidates of(ClusterCandidates clusterCandidates) {
      return new LimitedCandidates(clusterCandidates, Optional.empty());
    }
  }
}
