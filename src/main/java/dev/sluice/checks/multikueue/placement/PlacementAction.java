package dev.sluice.checks.multikueue.placement;

import java.util.List;

/** Something to do about one Workload. Each may be done again without harm. */
public sealed interface PlacementAction {

  /** Sets the check to Rejected. */
  record Reject(String message) implements PlacementAction {}

  /** Sets the check to Retry: the quota goes back, and the Workload is offered anew. */
  record Retry(String message) implements PlacementAction {}

  /** Writes the clusters that the Workload is offered to. */
  record Nominate(List<String> clusters) implements PlacementAction {

    /** With a copy of the list. */
    public Nominate {
      clusters = List.copyOf(clusters);
    }
  }

  /** Makes the copy in a worker. */
  record Offer(String cluster) implements PlacementAction {}

  /** Deletes the job there, if it is ours, and then the copy. */
  record Withdraw(String cluster) implements PlacementAction {}

  /** Brings priority and counts of pods to the copy. */
  record SyncSpec(String cluster) implements PlacementAction {}

  /** Opens the preemption gate of the copy: the worker may preempt for it. */
  record OpenGate(String cluster) implements PlacementAction {}

  /** Has the worker stop the job and give its quota back. */
  record EvictRemote(String cluster) implements PlacementAction {}

  /**
   * Makes the job there or copies its status back, sets the check to Ready and the cluster's name,
   * and clears the nominations.
   */
  record Run(String cluster) implements PlacementAction {}

  /** Sets the check to Ready: it runs here, in the cluster that has this name as a worker. */
  record RunHere(String cluster) implements PlacementAction {}

  /** Copies the status of the job back, and nothing else. */
  record SyncStatus(String cluster) implements PlacementAction {}

  /**
   * The Workload is sent back, and no worker that can be asked has it: whatever the job's status
   * said of pods, none are known any more.
   */
  record ClearPodStatus() implements PlacementAction {}

  /** Copies the status of the job back a last time, and then finishes the Workload. */
  record Finish(String cluster, String reason, String message) implements PlacementAction {}
}
