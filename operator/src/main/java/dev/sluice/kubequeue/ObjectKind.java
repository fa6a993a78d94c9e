package dev.sluice.kubequeue;

import dev.sluice.api.ApiVersions;

/** A kind of objects that are made from quotas; in the order in which they are made. */
public enum ObjectKind {
  /** What all quotas are of. */
  FLAVOR("ResourceFlavor", "resourceflavors"),
  /** A quota that others share. */
  COHORT("Cohort", "cohorts"),
  /** A quota that jobs use. */
  CLUSTER_QUEUE("ClusterQueue", "clusterqueues"),
  /** The way of a namespace to a quota. */
  LOCAL_QUEUE("LocalQueue", "localqueues"),
  /** What shows a quota in the way of Kube Queue. */
  QUEUE("Queue", "queues", QueueUnits.GROUP + "/" + QueueUnits.VERSION);

  private final String kind;
  private final String plural;
  private final String apiVersion;

  ObjectKind(String kind, String plural) {
    this(kind, plural, ApiVersions.GROUP + "/" + ApiVersions.V1BETA2);
  }

  ObjectKind(String kind, String plural, String apiVersion) {
    this.kind = kind;
    this.plural = plural;
    this.apiVersion = apiVersion;
  }

  /** The name of the kind. */
  public String kind() {
    return kind;
  }

  /** The API version in which objects are written. */
  public String apiVersion() {
    return apiVersion;
  }

  /** The plural by which the API server knows the kind. */
  public String plural() {
    return plural;
  }
}
