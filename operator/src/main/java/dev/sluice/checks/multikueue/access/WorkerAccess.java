package dev.sluice.checks.multikueue.access;

/** Result of resolving the access to a worker cluster. */
public sealed interface WorkerAccess {

  /** The cluster can be reached with these credentials. */
  record Usable(WorkerCredentials workerCredentials) implements WorkerAccess {}

  /** The worker cluster is the manager itself; no connection is needed. */
  record Here() implements WorkerAccess {}

  /**
   * The access is refused.
   *
   * @param reason the reason as the API spells it
   * @param message the field, its problem, and what is allowed; contains no secret
   */
  record Refused(ClusterReason reason, String message) implements WorkerAccess {}

  /** The object that holds the access was not read yet. */
  record Unknown() implements WorkerAccess {}
}
