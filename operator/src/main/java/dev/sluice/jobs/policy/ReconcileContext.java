package dev.sluice.jobs.policy;

import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.jobs.policy.WorkloadFactory.PriorityLookup;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * All that is looked at to decide what a job needs.
 *
 * @param job the job
 * @param managementStatus whether it is ours to handle
 * @param owned the Workloads it controls, oldest first
 * @param prebuilt the Workload it names as made for it, if that exists
 * @param flavors the flavors
 * @param priorities the priority classes
 * @param now the time
 */
public record ReconcileContext(
    CachedJob job,
    ManagementStatus managementStatus,
    List<CachedWorkload> owned,
    Optional<CachedWorkload> prebuilt,
    FlavorLookup flavors,
    PriorityLookup priorities,
    Instant now) {

  public ReconcileContext {
    owned = List.copyOf(owned);
  }

  /** The same with other Workloads of the job. */
  ReconcileContext withOwned(List<CachedWorkload> others) {
    return new ReconcileContext(job, managementStatus, others, prebuilt, flavors, priorities, now);
  }

  /** The same around another view of the job. */
  ReconcileContext with(CachedJob other) {
    return new ReconcileContext(other, managementStatus, owned, prebuilt, flavors, priorities, now);
  }
}
