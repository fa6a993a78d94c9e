package dev.sluice.jobs;

import dev.sluice.api.KueueConstants;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.WorkloadLister;
import java.util.Optional;

/**
 * Finds out through whom a job is managed, by following its chain of controlling owners. The chain
 * is followed through kinds that are known; an owner of any other kind ends it.
 */
public final class OwnerChainResolver {

  private static final int DEEPEST = 10;

  private final JobOptions rules;
  private final WorkloadLister workloads;
  private final IntegrationRegistry jobs;

  /** Follows chains through the kinds of the directory. */
  public OwnerChainResolver(JobOptions rules, WorkloadLister workloads, IntegrationRegistry jobs) {
    this.rules = rules;
    this.workloads = workloads;
    this.jobs = jobs;
  }

  /** Whether this owner of something in the namespace is a job that is managed, or below one. */
  public boolean isManaged(String namespace, CachedJob.Controller owner) {
    return jobs.find(namespace, owner)
        .map(this::status)
        .filter(
            managementStatus ->
                managementStatus instanceof ManagementStatus.Own
                    || managementStatus instanceof ManagementStatus.ChildOfManaged)
        .isPresent();
  }

  /** How the job stands. A pod whose parent leaves its admission to it stands for itself. */
  public ManagementStatus status(CachedJob job) {
    if (!rules.managedNamespaces().test(job.ref().namespace())) {
      return new ManagementStatus.Unmanaged();
    }
    if (job.annotations().containsKey(KueueConstants.POD_SUSPENDING_PARENT)) {
      return asksToBeManaged(job) ? new ManagementStatus.Own() : new ManagementStatus.Unmanaged();
    }
    Optional<CachedJob> managed = Optional.empty();
    Optional<CachedJob> next = parent(job);
    for (int depth = 1; next.isPresent(); depth++) {
      if (depth > DEEPEST) {
        return new ManagementStatus.NestedTooDeep();
      }
      if (asksToBeManaged(next.get())) {
        managed = next;
      }
      next = parent(next.get());
    }
    if (managed.isPresent()) {
      return new ManagementStatus.ChildOfManaged(admitted(managed.get()));
    }
    return asksToBeManaged(job) ? new ManagementStatus.Own() : new ManagementStatus.Unmanaged();
  }

  /** Whether a job may be ours at all, told from itself alone. */
  public boolean concerns(CachedJob job) {
    return asksToBeManaged(job)
        || job.controller().filter(this::isKnown).isPresent()
        || !workloads.ownedBy(job.ref().uid()).isEmpty();
  }

  private boolean asksToBeManaged(CachedJob job) {
    return rules.manageJobsWithoutQueueName()
        || !job.queueName().isEmpty()
        || !job.prebuiltWorkload().isEmpty();
  }

  private Optional<CachedJob> parent(CachedJob job) {
    return job.controller().flatMap(owner -> jobs.find(job.ref().namespace(), owner));
  }

  private boolean isKnown(CachedJob.Controller owner) {
    return jobs.knows(owner.apiVersion(), owner.kind());
  }

  private boolean admitted(CachedJob ancestor) {
    return workloads.ownedBy(ancestor.ref().uid()).stream().anyMatch(CachedWorkload::admitted);
  }
}
