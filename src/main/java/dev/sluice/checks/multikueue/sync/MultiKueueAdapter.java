package dev.sluice.checks.multikueue.sync;

import dev.sluice.checks.multikueue.placement.PlacementAction;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/**
 * Creates jobs of some kinds in workers and copies their status back. All calls are idempotent; for
 * one Workload, one thread at a time. Each method returns the delay before the next call if work is
 * left.
 */
interface MultiKueueAdapter {

  /** Runs the job in a worker: creates what is missing there, and copies the status back. */
  Optional<Duration> run(WorkloadGroup workloadGroup, WorkloadGroup.Owner owner, String cluster)
      throws IOException;

  /** Copies the status of a job that is being stopped. */
  Optional<Duration> syncStatus(
      WorkloadGroup workloadGroup, WorkloadGroup.Owner owner, String cluster) throws IOException;

  /** Copies the status of a job whose Workload has finished in the worker. */
  Conclusion conclude(
      WorkloadGroup workloadGroup, WorkloadGroup.Owner owner, PlacementAction.Finish finish)
      throws IOException;

  /**
   * The result of copying the status of a job that has ended.
   *
   * @param again the delay before the next call if work is left
   * @param finishesLater whether the Workload is not to be finished before that call
   */
  record Conclusion(Optional<Duration> again, boolean finishesLater) {

    /** The Workload is finished now. */
    static Conclusion now(Optional<Duration> again) {
      return new Conclusion(again, false);
    }

    /** The Workload is not finished before the next call. */
    static Conclusion after(Duration delay) {
      return new Conclusion(Optional.of(delay), true);
    }
  }

  /** Deletes the objects of this manager in the worker. */
  void withdraw(WorkloadGroup workloadGroup, WorkloadGroup.Owner owner, String cluster)
      throws IOException;

  /** Clears the pods from the job's status: no reachable worker holds the Workload. */
  Optional<Duration> clearPodStatus(WorkloadGroup workloadGroup, WorkloadGroup.Owner owner)
      throws IOException;
}
