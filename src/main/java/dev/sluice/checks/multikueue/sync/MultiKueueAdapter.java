package dev.sluice.checks.multikueue.sync;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/**
 * Brings jobs of some kinds to workers, and back how they are doing. Each call may be made again
 * without harm, for one Workload by one thread at a time. What is returned is after what time to go
 * on, where there is more to do.
 */
interface MultiKueueAdapter {

  /** Has the job run in a worker: makes there what isn't there, and brings back the rest. */
  Optional<Duration> run(WorkloadGroup workloadGroup, WorkloadGroup.Owner owner, String cluster)
      throws IOException;

  /** Brings back how a job is doing that is being stopped. */
  Optional<Duration> syncStatus(
      WorkloadGroup workloadGroup, WorkloadGroup.Owner owner, String cluster) throws IOException;

  /** Brings back how a job is doing that has ended there. */
  Optional<Duration> conclude(
      WorkloadGroup workloadGroup, WorkloadGroup.Owner owner, String cluster) throws IOException;

  /** Deletes there what is ours. */
  void withdraw(WorkloadGroup workloadGroup, WorkloadGroup.Owner owner, String cluster)
      throws IOException;

  /** No worker that can be asked has the Workload: no pods of it are known any more. */
  Optional<Duration> clearPodStatus(WorkloadGroup workloadGroup, WorkloadGroup.Owner owner)
      throws IOException;
}
