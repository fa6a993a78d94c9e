package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.placement.ClusterCandidates;
import dev.sluice.checks.multikueue.placement.GroupPlacement;
import dev.sluice.checks.multikueue.placement.GroupPlacement.Choice;
import dev.sluice.checks.multikueue.sync.JobGroups.GroupedJob;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;

/** Limits the workers of Workloads whose job has several Workloads. */
final class GroupLimits {

  private static final Duration UNTIL_STOPPED = Duration.ofSeconds(2);

  private final JobGroups groups;
  private final WorkloadStateReader workloadStateReader;
  private final ActionExecutor actionExecutor;

  GroupLimits(
      JobGroups groups, WorkloadStateReader workloadStateReader, ActionExecutor actionExecutor) {
    this.groups = groups;
    this.workloadStateReader = workloadStateReader;
    this.actionExecutor = actionExecutor;
  }

  /**
   * The workers that a Workload may use, if others of its job are considered.
   *
   * @param again called with the delay after which to look again even without an event
   */
  ClusterCandidates of(
      WorkloadGroup workloadGroup, ClusterCandidates candidates, Consumer<Duration> again)
      throws IOException {
    Optional<GroupedJob> job = JobGroups.job(workloadGroup);
    if (job.isEmpty() || !isLookingForWorker(workloadGroup)) {
      return candidates;
    }
    Optional<String> stopping =
        groups.stopping(job.get(), workloadGroup.local()).stream()
            .flatMap(key -> workloadStateReader.holding(key).stream())
            .findFirst();
    if (stopping.isPresent()) {
      again.accept(UNTIL_STOPPED);
    }
    Choice choice =
        stopping
            .<Choice>map(Choice.Follow::new)
            .orElseGet(() -> groups.choice(job.get(), workloadGroup.local()));
    return GroupPlacement.limit(
        candidates,
        choice,
        choice instanceof Choice.Free ? missing(workloadGroup, job.get()) : OptionalInt.empty());
  }

  /** Whether a Workload is one of several, holds quota and runs in no worker. */
  static boolean isLookingForWorker(WorkloadGroup workloadGroup) {
    return JobGroups.job(workloadGroup).isPresent()
        && workloadGroup
            .workload()
            .filter(it -> it.quotaReserved() && !it.evicted())
            .filter(it -> it.status().remotePlacement().cluster().isEmpty())
            .isPresent();
  }

  private OptionalInt missing(WorkloadGroup workloadGroup, GroupedJob job) throws IOException {
    Optional<WorkloadGroup.Owner> owner = workloadGroup.owner();
    if (owner.isEmpty()) {
      return OptionalInt.empty();
    }
    Optional<ObjectNode> object = actionExecutor.job(workloadGroup, owner.get());
    return object.isEmpty()
        ? OptionalInt.empty()
        : OptionalInt.of(object.get().path("spec").path("replicas").asInt(1) - groups.count(job));
  }
}
