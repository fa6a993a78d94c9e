package dev.sluice.kube.leader;

/** What an operator is among its replicas: the last base label of every metric. */
public enum ReplicaRole {
  /** It was elected, and decides. */
  LEADER("leader"),
  /** It waits to be elected. */
  FOLLOWER("follower"),
  /** There is no election: it decides. */
  STANDALONE("standalone");

  /** The label's name. */
  public static final String LABEL = "replica_role";

  private final String text;

  ReplicaRole(String text) {
    this.text = text;
  }

  /** The label's value. */
  public String text() {
    return text;
  }

  /** Whether this replica decides. */
  public boolean decides() {
    return this != FOLLOWER;
  }
}
