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
  RunResult run(RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, String cluster)
      throws IOException;

  /** The result of running a job in a worker. */
  sealed interface RunResult {

    /**
     * The job runs, or is about to.
     *
     * @param requeueAfter the delay before the next call if work is left
     */
    record Proceeding(Optional<Duration> requeueAfter) implements RunResult {}

    /**
     * The manager's job was deleted without its Workload: all objects of the Workload in the worker
     * are to be withdrawn.
     */
    record JobGone() implements RunResult {}

    /** Nothing is left to do. */
    static RunResult done() {
      return new Proceeding(Optional.empty());
    }

    /** Work is left. */
    static RunResult after(Duration delay) {
      return new Proceeding(Optional.of(delay));
    }
  }

  /** Copies the status of a job that is being stopped. */
  Optional<Duration> syncStatus(
      RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, String cluster)
      throws IOException;

  /** Copies the status of a job whose Workload has finished in the worker. */
  Conclusion conclude(
      RemoteWorkloadContext context,
      RemoteWorkloadContext.Owner owner,
      PlacementAction.Finish finish)
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
  void withdraw(RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner, String cluster)
      throws IOException;

  /** Clears the pods from the job's status: no reachable worker holds the Workload. */
  Optional<Duration> clearPodStatus(
      RemoteWorkloadContext context, RemoteWorkloadContext.Owner owner) throws IOException;
}
