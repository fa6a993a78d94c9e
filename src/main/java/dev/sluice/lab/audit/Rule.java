package dev.sluice.lab.audit;

/** What the auditor watches over. */
public enum Rule {
  /** At no moment did the admitted Workloads of a ClusterQueue hold more than its quota. */
  QUOTA_KEPT("quota was exceeded"),
  /** At no moment did the pods that had not ended request more than the quota. */
  PODS_WITHIN_QUOTA("running pods exceeded the quota"),
  /** A Job was unsuspended only while its Workload held quota. */
  HELD_UNTIL_ADMITTED("a Job was unsuspended without quota"),
  /**
   * No pod of a Job was made while its Workload held no quota, unless the Job was being deleted.
   */
  NO_POD_BEFORE_ADMISSION("a pod was made without quota"),
  /** A Job was started once, and once more after each eviction at most. */
  STARTED_ONCE("a Job was started more than once"),
  /** A Job had as many pods as it asked for, and one more for each that failed or was lost. */
  ONE_SET_OF_PODS("a Job had more pods than it asked for"),
  /** A Job had one Workload at a time. */
  ONE_WORKLOAD("a Job had two Workloads"),
  /** A template changed only when its Job was started or stopped. */
  TEMPLATE_KEPT("a pod template was changed on the way"),
  /** The history was whole, and of a kind that can be judged. */
  WHOLE_HISTORY("the history can't be judged");

  private final String violated;

  Rule(String violated) {
    this.violated = violated;
  }

  /** What is the case when it was broken. */
  public String violated() {
    return violated;
  }
}
