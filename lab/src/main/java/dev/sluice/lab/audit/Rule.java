package dev.sluice.lab.audit;

/** The rules that the auditor checks. */
public enum Rule {
  /** At any time, the admitted Workloads of a ClusterQueue held at most its quota. */
  QUOTA_KEPT("quota was exceeded"),
  /** At any time, the pods that had not ended requested at most the quota. */
  PODS_WITHIN_QUOTA("running pods exceeded the quota"),
  /** At any time, the open pods of an elastic Job requested at most what its slices held. */
  PODS_WITHIN_SLICES("an elastic Job had more open pods than its slices had quota for"),
  /** At any time, the pods that a topology placed on a node requested at most what it has. */
  WITHIN_NODE("pods requested more than their node has"),
  /** A Job was unsuspended only while its Workload held quota. */
  HELD_UNTIL_ADMITTED("a Job was unsuspended without quota"),
  /**
   * No pod of a Job was created while its Workload held no quota, unless the Job was being deleted.
   */
  NO_POD_BEFORE_ADMISSION("a pod was made without quota"),
  /** A Job was started once, plus at most once after each eviction. */
  STARTED_ONCE("a Job was started more than once"),
  /** A Job had as many pods as requested, plus one for each pod that failed or was lost. */
  ONE_SET_OF_PODS("a Job had more pods than it asked for"),
  /** A Job had one Workload at a time. */
  ONE_WORKLOAD("a Job had two Workloads"),
  /** A template changed only when its Job was started or stopped. */
  TEMPLATE_KEPT("a pod template was changed on the way"),
  /** The history is complete, and the auditor can evaluate it. */
  WHOLE_HISTORY("the history can't be judged");

  private final String violated;

  Rule(String violated) {
    this.violated = violated;
  }

  /** The description of a violation. */
  public String violated() {
    return violated;
  }
}
