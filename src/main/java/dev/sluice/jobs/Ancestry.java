package dev.sluice.jobs;

import dev.sluice.api.Keys;
import dev.sluice.workloads.Workload;
import dev.sluice.workloads.WorkloadStore;
import java.util.Optional;

/**
 * Finds out through whom a job is managed, by following its chain of controlling owners. The chain
 * is followed through kinds that are known; an owner of any other kind ends it.
 */
public final class Ancestry {

  private static final int DEEPEST = 10;

  private final JobRules rules;
  private final WorkloadStore workloads;
  private final JobDirectory jobs;

  /** Follows chains through the kinds of the directory. */
  public Ancestry(JobRules rules, WorkloadStore workloads, JobDirectory jobs) {
    this.rules = rules;
    this.workloads = workloads;
    this.jobs = jobs;
  }

  /** Whether this owner of something in the namespace is a job that is managed, or below one. */
  public boolean isManaged(String namespace, JobView.Controller owner) {
    return jobs.find(namespace, owner)
        .map(this::standing)
        .filter(
            standing ->
                standing instanceof Standing.Own || standing instanceof Standing.ChildOfManaged)
        .isPresent();
  }

  /** How the job stands. A pod whose parent leaves its admission to it stands for itself. */
  public Standing standing(JobView job) {
    if (!rules.managedNamespaces().test(job.ref().namespace())) {
      return new Standing.Unmanaged();
    }
    if (job.annotations().containsKey(Keys.POD_SUSPENDING_PARENT)) {
      return asksToBeManaged(job) ? new Standing.Own() : new Standing.Unmanaged();
    }
    Optional<JobView> managed = Optional.empty();
    Optional<JobView> next = parent(job);
    for (int depth = 1; next.isPresent(); depth++) {
      if (depth > DEEPEST) {
        return new Standing.NestedTooDeep();
      }
      if (asksToBeManaged(next.get())) {
        managed = next;
      }
      next = parent(next.get());
    }
    if (managed.isPresent()) {
      return new Standing.ChildOfManaged(admitted(managed.get()));
    }
    return asksToBeManaged(job) ? new Standing.Own() : new Standing.Unmanaged();
  }

  /** Whether a job may be ours at all, told from itself alone. */
  public boolean concerns(JobView job) {
    return asksToBeManaged(job)
        || job.controller().filter(this::isKnown).isPresent()
        || !workloads.ownedBy(job.ref().uid()).isEmpty();
  }

  private boolean asksToBeManaged(JobView job) {
    return rules.manageJobsWithoutQueueName()
        || !job.queueName().isEmpty()
        || !job.prebuiltWorkload().isEmpty();
  }

  private Optional<JobView> parent(JobView job) {
    return job.controller().flatMap(owner -> jobs.find(job.ref().namespace(), owner));
  }

  private boolean isKnown(JobView.Controller owner) {
    return jobs.knows(owner.apiVersion(), owner.kind());
  }

  private boolean admitted(JobView ancestor) {
    return workloads.ownedBy(ancestor.ref().uid()).stream().anyMatch(Workload::admitted);
  }
}
