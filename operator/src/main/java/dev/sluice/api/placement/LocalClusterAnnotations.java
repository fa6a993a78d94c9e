package dev.sluice.api.placement;

/** The words by which the manager cluster is declared as one of its own workers. */
public final class LocalClusterAnnotations {

  /**
   * {@code clusterSource.kubeConfig.location} of a MultiKueueCluster that is the manager itself. No
   * Secret can have this name.
   */
  public static final String LOCATION = "sluice.dev/this-cluster";

  /** Annotation of a ResourceFlavor: the MultiKueueCluster whose nodes it stands for. */
  public static final String FLAVOR = "sluice.dev/worker-cluster";

  /**
   * Annotation of a job and its Workload: it may run in the manager as well as in other workers.
   */
  public static final String MAY_RUN_HERE = "sluice.dev/may-run-here";

  /**
   * Annotation of a job that runs in another cluster, and whose status belongs to a controller of
   * this one: its status there, as JSON.
   */
  public static final String REMOTE_STATUS = "sluice.dev/remote-status";

  private LocalClusterAnnotations() {}
}
