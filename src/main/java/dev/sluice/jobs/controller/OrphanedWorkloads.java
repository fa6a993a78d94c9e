package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.kube.client.Futures;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.Optional;

/**
 * Removes the finalizer of Workloads that are being deleted and whose job doesn't exist any more. A
 * job that exists removes it by its own reconciliation.
 */
final class OrphanedWorkloads {

  private final JobKind kind;
  private final JobStore jobs;
  private final JobReconciler.Dependencies dependencies;
  private final WorkloadReleaser releaser;

  /** For Workloads of jobs of a kind. */
  OrphanedWorkloads(JobKind kind, JobStore jobs, JobReconciler.Dependencies dependencies) {
    this.kind = kind;
    this.jobs = jobs;
    this.dependencies = dependencies;
    this.releaser = new WorkloadReleaser(dependencies.writer());
  }

  /** Whether a Workload belongs to a job of the kind, is being deleted and has the finalizer. */
  boolean concerns(CachedWorkload workload) {
    return workload.deleting() && workload.finalized() && owner(workload).isPresent();
  }

  /** The job of the kind that owns a Workload, if one does. */
  Optional<CachedWorkload.Owner> owner(CachedWorkload workload) {
    return workload.owner().filter(owner -> kind.is(owner.apiVersion(), owner.kind()));
  }

  /**
   * Removes the finalizer of a Workload unless its job exists.
   *
   * @return the delay after which to try again; empty if nothing is left to do
   */
  Optional<Duration> removeFinalizer(ObjectKey key) throws InterruptedException {
    Optional<CachedWorkload> found =
        dependencies.workloads().store().get(key.namespace(), key.name()).filter(this::concerns);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    CachedWorkload workload = found.get();
    CachedWorkload.Owner owner = owner(workload).orElseThrow();
    boolean cached =
        jobs.find(key.namespace(), owner.name())
            .filter(job -> job.ref().uid().equals(owner.uid()))
            .isPresent();
    if (cached || exists(key.namespace(), owner)) {
      return Optional.empty();
    }
    return releaser.release(workload, "its " + owner.kind() + " is gone");
  }

  private boolean exists(String namespace, CachedWorkload.Owner owner) throws InterruptedException {
    Optional<ObjectNode> job =
        Futures.forResult(dependencies.objects().read(kind.path(namespace, owner.name())));
    return job.filter(found -> found.path("metadata").path("uid").asText().equals(owner.uid()))
        .isPresent();
  }
}
