package dev.sluice.core.model;

/** Why a Workload is preempted (docs/workload-semantics.md#conditions). */
public enum PreemptionReason {
  /** The preemptor is in the same ClusterQueue. */
  IN_CLUSTER_QUEUE("InClusterQueue"),
  /** The preemptor's ClusterQueue reclaims quota that the target's ClusterQueue borrows. */
  IN_COHORT_RECLAMATION("InCohortReclamation"),
  /** The target's ClusterQueue has more than its fair share. */
  IN_COHORT_FAIR_SHARING("InCohortFairSharing"),
  /** The preemptor's ClusterQueue reclaims quota and borrows at the same time. */
  IN_COHORT_RECLAIM_WHILE_BORROWING("InCohortReclaimWhileBorrowing");

  private final String reason;

  PreemptionReason(String reason) {
    this.reason = reason;
  }

  /** The reason as the API spells it. */
  public String apiReason() {
    return reason;
  }
}
