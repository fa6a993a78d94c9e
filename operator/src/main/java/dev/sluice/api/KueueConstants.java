package dev.sluice.api;

/**
 * The words of the API that objects carry as label, annotation, finalizer or gate. A name that is
 * used in several of these places has one constant.
 */
public final class KueueConstants {

  /** The API group, which is also the prefix of every key. */
  public static final String GROUP = "kueue.x-k8s.io";

  private static final String PREFIX = GROUP + "/";

  // Labels, some of which may be given as annotations of the same key.

  /** Names the LocalQueue of a job; as an annotation it is the old form of the same. */
  public static final String QUEUE_NAME = PREFIX + "queue-name";

  /** Names the WorkloadPriorityClass of a job. */
  public static final String PRIORITY_CLASS = PREFIX + "priority-class";

  /** Seconds that a job may run, an integer above zero. */
  public static final String MAX_EXEC_TIME_SECONDS = PREFIX + "max-exec-time-seconds";

  /** Names a Workload that exists already; preferred as annotation, accepted as label. */
  public static final String PREBUILT_WORKLOAD_NAME = PREFIX + "prebuilt-workload-name";

  /** On a Workload: UID of its job. */
  public static final String JOB_UID = PREFIX + "job-uid";

  /** Marks pods and their helpers as belonging to the operator; finalizer of pods as well. */
  public static final String MANAGED = PREFIX + "managed";

  /** On pods of a started job: name of their pod set. */
  public static final String PODSET = PREFIX + "podset";

  /** On pods of a started job: the ClusterQueue that admitted them. */
  public static final String CLUSTER_QUEUE_NAME = PREFIX + "cluster-queue-name";

  /** On pods of a started job: their LocalQueue. */
  public static final String LOCAL_QUEUE_NAME = PREFIX + "local-queue-name";

  /** On objects sent to a worker cluster: the manager they come from. */
  public static final String MULTIKUEUE_ORIGIN = PREFIX + "multikueue-origin";

  /** On pods of a worker cluster that a manager sent there, {@code true}. */
  public static final String MULTIKUEUE_WORKER_POD = PREFIX + "multikueue-worker-workload-pod";

  /** Group of pods that make one Workload; preferred as annotation, accepted as label. */
  public static final String POD_GROUP_NAME = PREFIX + "pod-group-name";

  /** Rank of a pod within its pod set. */
  public static final String POD_GROUP_POD_INDEX = PREFIX + "pod-group-pod-index";

  // Annotations.

  /** On pods, {@code true}: the pod may be deleted by force when its node is unreachable. */
  public static final String SAFE_TO_FORCEFULLY_DELETE = PREFIX + "safe-to-forcefully-delete";

  /** On pods: the Workload they belong to. */
  public static final String WORKLOAD = PREFIX + "workload";

  /** Name of the first slice of an elastic job. */
  public static final String WORKLOAD_SLICE_NAME = PREFIX + "workload-slice-name";

  /** {@code namespace/name} of the slice that a Workload takes the place of. */
  public static final String WORKLOAD_SLICE_REPLACEMENT_FOR =
      PREFIX + "workload-slice-replacement-for";

  /** {@code true}: the job may change its size while it runs. Scheduling gate as well. */
  public static final String ELASTIC_JOB = PREFIX + "elastic-job";

  /** Annotation of a job, {@code true}: kube-scheduler binds all pods of a pod set, or none. */
  public static final String WAS_POD_GROUP = PREFIX + "was-podgroup";

  /** Annotation of pods: the PodGroup of kube-scheduler that a start made for their pod set. */
  public static final String NATIVE_POD_GROUP = "sluice.dev/pod-group";

  /** Annotation of a job: how many pods the pod sets have that its RayCluster was scaled to. */
  public static final String RAYCLUSTER_PODSET_REPLICA_SIZES =
      PREFIX + "raycluster-podset-replica-sizes";

  /** Annotation of a job: the generation of the RayCluster whose size it follows. */
  public static final String RAYCLUSTER_GENERATION = PREFIX + "raycluster-generation";

  /** Comma-separated controllers that must let go of a job before it may be admitted. */
  public static final String ADMISSION_GATED_BY = PREFIX + "admission-gated-by";

  /** Label of a Workload, {@code true}: it has variants, and isn't queued itself. */
  public static final String CONCURRENT_ADMISSION_PARENT = PREFIX + "concurrent-admission-parent";

  /** On a variant: the one flavor that it may use. */
  public static final String ALLOWED_RESOURCE_FLAVORS =
      PREFIX + "workload-allowed-resource-flavors";

  /** The preemption gate of variants. */
  public static final String CONCURRENT_ADMISSION_GATE = PREFIX + "concurrent-admission";

  /** An int32 that is added to a Workload's priority. */
  public static final String PRIORITY_BOOST = PREFIX + "priority-boost";

  /** The priority boost that a Workload has because it waited: a boost of somebody else differs. */
  public static final String AGED_BY = "sluice.dev/aged-by";

  /** Group, version and kind of the real job when the owner reference doesn't say. */
  public static final String JOB_OWNER_GVK = PREFIX + "job-owner-gvk";

  /** Name of the real job when the owner reference doesn't say. */
  public static final String JOB_OWNER_NAME = PREFIX + "job-owner-name";

  /** On a StatefulSet or LeaderWorkerSet that a manager sent: the UID of the manager's object. */
  public static final String MULTIKUEUE_ORIGIN_UID = PREFIX + "multikueue-origin-uid";

  /** On a Workload: its place among the Workloads of a job that has several. */
  public static final String COMPONENT_WORKLOAD_INDEX = PREFIX + "component-workload-index";

  /** On a Workload, {@code true}: it was made for a group of pods. */
  public static final String IS_GROUP_WORKLOAD = PREFIX + "is-group-workload";

  /** On jobs and Workloads: how long their pods may take to be ready, as JSON. */
  public static final String WAIT_FOR_PODS_READY = PREFIX + "wait-for-pods-ready";

  /** On pods of a group: how many there are to be, an integer above zero. */
  public static final String POD_GROUP_TOTAL_COUNT = PREFIX + "pod-group-total-count";

  /** On pods of a group: how many of them needn't be ready for the group to be. */
  public static final String POD_GROUP_MAX_NOT_READY_COUNT =
      PREFIX + "pod-group-max-not-ready-count";

  /** On pods of a group, {@code true}: the Workload is made when the first of them is there. */
  public static final String POD_GROUP_FAST_ADMISSION = PREFIX + "pod-group-fast-admission";

  /** On pods of a group, {@code true}: they serve, so that the group never finishes. */
  public static final String POD_GROUP_SERVING = PREFIX + "pod-group-serving";

  /** On pods of a group: names the label that holds their rank. */
  public static final String POD_GROUP_POD_INDEX_LABEL = PREFIX + "pod-group-pod-index-label";

  /** On pods of a group, {@code false}: what failed is not made again. */
  public static final String RETRIABLE_IN_GROUP = PREFIX + "retriable-in-group";

  /** On pods of a group: name of their pod set. */
  public static final String ROLE_HASH = PREFIX + "role-hash";

  /** On pods and their templates: the integration of the object that makes them. */
  public static final String POD_SUSPENDING_PARENT = PREFIX + "pod-suspending-parent";

  /** The level that all pods of a pod set must share. */
  public static final String PODSET_REQUIRED_TOPOLOGY = PREFIX + "podset-required-topology";

  /** The level that all pods of a pod set should share. */
  public static final String PODSET_PREFERRED_TOPOLOGY = PREFIX + "podset-preferred-topology";

  /** {@code true}: topology-aware placement without a wish for a level. */
  public static final String PODSET_UNCONSTRAINED_TOPOLOGY =
      PREFIX + "podset-unconstrained-topology";

  /** The level that all pods of a slice must share. */
  public static final String PODSET_SLICE_REQUIRED_TOPOLOGY =
      PREFIX + "podset-slice-required-topology";

  /** Number of pods in a slice. */
  public static final String PODSET_SLICE_SIZE = PREFIX + "podset-slice-size";

  /** Slices in several layers, as JSON. */
  public static final String PODSET_SLICE_REQUIRED_TOPOLOGY_CONSTRAINTS =
      PREFIX + "podset-slice-required-topology-constraints";

  /** How groups of pods are spread over domains, as JSON. */
  public static final String PODSET_TOPOLOGY_SPREADING = PREFIX + "podset-topology-spreading";

  /** Two pod sets that share flavor and topology. */
  public static final String PODSET_GROUP_NAME = PREFIX + "podset-group-name";

  /** Number that is subtracted from a pod's index to get its place in the pod set. */
  public static final String POD_INDEX_OFFSET = PREFIX + "pod-index-offset";

  /** On a batch Job: the smallest parallelism with which it may start. */
  public static final String JOB_MIN_PARALLELISM = PREFIX + "job-min-parallelism";

  /** On a batch Job, {@code true}: completions follow parallelism when it starts smaller. */
  public static final String JOB_COMPLETIONS_EQUAL_PARALLELISM =
      PREFIX + "job-completions-equal-parallelism";

  /** On a batch Job: it is being stopped and restored. */
  public static final String STOPPING = PREFIX + "stopping";

  /**
   * The controller of the admission checks that have an autoscaler provide nodes, and the field
   * owner of what that controller creates.
   */
  public static final String PROVISIONING_REQUEST = PREFIX + "provisioning-request";

  /** Prefix of the annotations that are parameters of a ProvisioningRequest. */
  public static final String PROVISIONING_REQUEST_PREFIX = "provreq." + PREFIX;

  // Finalizers, gates and other identifiers.

  /** Finalizer of what is in use: ClusterQueue, ResourceFlavor, Workload, and others. */
  public static final String RESOURCE_IN_USE = PREFIX + "resource-in-use";

  /** Scheduling gate of a pod that isn't admitted. */
  public static final String ADMISSION_GATE = PREFIX + "admission";

  /** Scheduling gate of a pod whose place isn't chosen. */
  public static final String TOPOLOGY_GATE = PREFIX + "topology";

  /**
   * {@code managedBy} value of a job that runs in another cluster; on a Workload that a manager
   * sent, the preemption gate that the manager opens.
   */
  public static final String MULTIKUEUE = PREFIX + "multikueue";

  /** Annotation of what is made from a quota of Kube Queue: the kind of the quota's object. */
  public static final String SOURCE_KIND = "sluice.dev/source-kind";

  /** Reason of {@code Finished} of a Workload whose job is gone. */
  public static final String OWNER_NOT_FOUND = "OwnerNotFound";

  private KueueConstants() {}
}
