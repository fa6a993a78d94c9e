package dev.sluice.core.model;

/**
 * Reasons of QuotaReserved=False (docs/workload-semantics.md#conditions), in order of increasing
 * severity.
 */
public enum PendingReason {
  PENDING_EVALUATION("PendingEvaluation"),
  WAITING_FOR_PREEMPTED_WORKLOADS("WaitingForPreemptedWorkloads"),
  WAITING_FOR_PODS_READY("WaitingForPodsReady"),
  TOPOLOGY_PLACEMENT_FAILED("TopologyPlacementFailed"),
  TOPOLOGY_SPREAD_CONSTRAINT_NOT_MET("TopologySpreadConstraintNotMet"),
  WAITING_FOR_QUOTA("WaitingForQuota"),
  EXCEEDS_MAX_QUOTA("ExceedsMaxQuota"),
  NO_MATCHING_FLAVOR("NoMatchingFlavor"),
  SUSPENDED("Suspended"),
  MISCONFIGURED("Misconfigured");

  private final String reason;

  PendingReason(String reason) {
    this.reason = reason;
  }

  /** The reason as the API spells it. */
  public String apiReason() {
    return reason;
  }
}
