package dev.sluice.checks.multikueue.placement;

import java.util.List;

/** An action on one Workload. All actions are idempotent. */
public sealed interface PlacementAction {

  /** Sets the check to Rejected. */
  record Reject(String message) implements PlacementAction {}

  /** Sets the check to Retry: the quota is released and the Workload is dispatched anew. */
  record Retry(String message) implements PlacementAction {}

  /** Writes the nominated clusters. */
  record Nominate(List<String> clusters) implements PlacementAction {

    /** Copies the list. */
    public Nominate {
      clusters = List.copyOf(clusters);
    }
  }

  /** Creates the remote Workload in a worker. */
  record Offer(String cluster) implements PlacementAction {}

  /** Deletes the remote job if this manager created it, then the remote Workload. */
  record Withdraw(String cluster) implements PlacementAction {}

  /** Copies priority and pod counts to the remote Workload. */
  record SyncSpec(String cluster) implements PlacementAction {}

  /** Opens the preemption gate of the remote Workload: the worker may preempt for it. */
  record OpenGate(String cluster) implements PlacementAction {}

  /** Makes the worker stop the job and release its quota. */
  record EvictRemote(String cluster) implements PlacementAction {}

  /**
   * Creates the remote job, or copies its status back; sets the check to Ready, writes the
   * cluster's name, and clears the nominations.
   */
  record Run(String cluster) implements PlacementAction {}

  /**
   * Sets the check to Ready: the Workload runs in the manager itself, which is a worker of this
   * name.
   */
  record RunHere(String cluster) implements PlacementAction {}

  /** Copies the status of the remote job back, and nothing else. */
  record SyncStatus(String cluster) implements PlacementAction {}

  /**
   * The Workload is evicted and no reachable worker holds it: clears the pods in the status of the
   * job.
   */
  record ClearPodStatus() implements PlacementAction {}

  /** Copies the status of the remote job back a last time, then finishes the Workload. */
  record Finish(String cluster, String reason, String message) implements PlacementAction {}
}
