package dev.sluice.checks.multikueue.access;

/** What came of looking for the access to a worker cluster. */
public sealed interface WorkerAccess {

  /** The cluster may be reached with these. */
  record Usable(WorkerCredentials workerCredentials) implements WorkerAccess {}

  /** The cluster is this one: there is nothing to connect to. */
  record Here() implements WorkerAccess {}

  /**
   * The cluster may not be reached.
   *
   * @param reason why, in the API's word
   * @param message the field, what it is, and what is allowed; never a secret
   */
  record Refused(ClusterReason reason, String message) implements WorkerAccess {}

  /** What it depends on was not read yet. */
  record Unknown() implements WorkerAccess {}
}
