package dev.sluice.kubequeue;

/** A kind of objects that are made from quotas; in the order in which they are made. */
public enum ObjectKind {
  /** What all quotas are of. */
  FLAVOR("ResourceFlavor", "resourceflavors"),
  /** A quota that others share. */
  COHORT("Cohort", "cohorts"),
  /** A quota that jobs use. */
  CLUSTER_QUEUE("ClusterQueue", "clusterqueues"),
  /** The way of a namespace to a quota. */
  LOCAL_QUEUE("LocalQueue", "localqueues");

  private final String kind;
  private final String plural;

  ObjectKind(String kind, String plural) {
    this.kind = kind;
    this.plural = plural;
  }

  /** The name of the kind. */
  public String kind() {
    return kind;
  }

  /** The plural by which the API server knows the kind. */
  public String plural() {
    return plural;
  }
}
