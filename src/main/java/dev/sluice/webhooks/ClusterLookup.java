package dev.sluice.webhooks;

import java.util.Map;

/** What some verdicts need to know about the cluster. Answers come from memory, at once. */
public interface ClusterLookup {

  /**
   * The controller of an object.
   *
   * @param apiVersion of the owner
   * @param kind of the owner
   * @param name of the owner
   * @param uid of the owner
   */
  record Owner(String apiVersion, String kind, String name, String uid) {}

  /** Whether the namespace has a LocalQueue named {@code default}. */
  boolean hasDefaultLocalQueue(String namespace);

  /** Whether there is a WorkloadPriorityClass named {@code default}. */
  boolean hasDefaultPriorityClass();

  /** The labels of a namespace; empty when it isn't known. */
  Map<String, String> namespaceLabels(String namespace);

  /** Whether the jobs of this LocalQueue run in other clusters. */
  default boolean runsElsewhere(String namespace, String queue) {
    return false;
  }

  /** Whether the jobs of this LocalQueue may run in this cluster as well as in others. */
  default boolean mayRunHere(String namespace, String queue) {
    return false;
  }

  /** Whether this user, by the name that the API server knows, is the operator itself. */
  default boolean isOperator(String user) {
    return false;
  }

  /** Whether the object has a Workload that is not on hold. */
  default boolean hasWorkloadInUse(String namespace, Owner job) {
    return false;
  }

  /**
   * Whether this owner, or one of its owners, is managed itself, so that what it owns is not
   * managed a second time.
   */
  boolean isManaged(String namespace, Owner owner);
}
