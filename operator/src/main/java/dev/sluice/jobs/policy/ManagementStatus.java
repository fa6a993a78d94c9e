package dev.sluice.jobs.policy;

/** Whether, and through whom, a job is the framework's to handle. */
public sealed interface ManagementStatus {

  /** Its namespace is not selected, or nothing says that it is managed. */
  record Unmanaged() implements ManagementStatus {}

  /** It stands for itself: it has a Workload of its own. */
  record Own() implements ManagementStatus {}

  /** An owner up the chain is managed, and has the Workload for both. */
  record ChildOfManaged(boolean ancestorAdmitted) implements ManagementStatus {}

  /** Its chain of owners is longer than anybody is willing to follow. */
  record NestedTooDeep() implements ManagementStatus {}
}
