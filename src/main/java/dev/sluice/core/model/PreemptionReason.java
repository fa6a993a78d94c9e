package dev.sluice.core.model;

/** Why a Workload is preempted (docs/workload-semantics.md#conditions). */
public enum PreemptionReason {
  /** For a Workload of its own ClusterQueue. */
  IN_CLUSTER_QUEUE("InClusterQueue"),
  /** Its ClusterQueue borrows what another one takes back. */
  IN_COHORT_RECLAMATION("InCohortReclamation"),
  /** Its ClusterQueue has more than its fair share. */
  IN_COHORT_FAIR_SHARING("InCohortFairSharing"),
  /** Another ClusterQueue takes quota back and borrows at the same time. */
  IN_COHORT_RECLAIM_WHILE_BORROWING("InCohortReclaimWhileBorrowing");

  private final String reason;

  PreemptionReason(String reason) {
    this.reason = reason;
  }

  /** The word of the API. */
  public String apiReason() {
    return reason;
  }
}
