package dev.sluice.jobs.controller;

import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobIntake;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.RemoteExecutionCheck;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.workload.record.CachedWorkload;
import java.util.function.BooleanSupplier;

/**
 * What the controllers of all kinds share.
 *
 * @param reflectors make the reflectors of this cluster
 * @param options the part of the configuration that concerns jobs
 * @param registry the kinds; each controller registers where its jobs are found
 * @param ownerChainResolver finds the managed ancestors of a job
 * @param managedByCheck knows the jobs that run in another cluster, for kinds with a field that
 *     names the controller that runs a job ({@code managedBy})
 * @param gatedCheck the same for kinds without such a field
 * @param intake knows the queues of jobs that name none
 * @param dependencies the readers and writers that reconcilers use
 * @param queue how work queues run
 * @param leading whether this process may write, at the moment of asking
 */
public record JobControllerContext(
    Reflectors reflectors,
    JobOptions options,
    IntegrationRegistry registry,
    OwnerChainResolver ownerChainResolver,
    RemoteExecutionCheck managedByCheck,
    RemoteExecutionCheck gatedCheck,
    JobIntake intake,
    JobReconciler.Dependencies dependencies,
    WorkQueueSettings queue,
    BooleanSupplier leading) {

  /** The same where every job names its queue. */
  public JobControllerContext(
      Reflectors reflectors,
      JobOptions options,
      IntegrationRegistry registry,
      OwnerChainResolver ownerChainResolver,
      RemoteExecutionCheck managedByCheck,
      RemoteExecutionCheck gatedCheck,
      JobReconciler.Dependencies dependencies,
      WorkQueueSettings queue,
      BooleanSupplier leading) {
    this(
        reflectors,
        options,
        registry,
        ownerChainResolver,
        managedByCheck,
        gatedCheck,
        JobIntake.NONE,
        dependencies,
        queue,
        leading);
  }

  /** How the queue of a controller runs whose keys are objects of {@code kind}. */
  public WorkQueueSettings queue(JobKind kind) {
    return queue.ofKind(kind.group(), kind.kind());
  }

  /**
   * Whether a rollout may let pods of a set go: its Workload has no quota, nothing of the set runs
   * in another cluster, and pods may run for a moment without quota.
   *
   * @param job the set as a job
   */
  public boolean letsGoForRollout(CachedJob job, CachedWorkload workload) {
    return !options.clusterState().prevents()
        && !workload.admitted()
        && !gatedCheck.runs(job, workload);
  }

  /** How many objects of one kind are written at the same time. */
  public static final int WRITES_AT_A_TIME = 16;
}
