package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.placement.ClusterCandidates;
import dev.sluice.checks.multikueue.placement.GroupPlacement;
import dev.sluice.checks.multikueue.placement.GroupPlacement.Choice;
import dev.sluice.checks.multikueue.sync.JobGroups.GroupedJob;
import dev.sluice.jobs.kind.MultiKueueRules;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

/** Limits the workers of Workloads whose job has several Workloads. */
final class GroupLimits {

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
