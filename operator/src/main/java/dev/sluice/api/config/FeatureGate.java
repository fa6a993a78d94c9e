package dev.sluice.api.config;

import static dev.sluice.api.config.FeatureGate.Stage.ALPHA;
import static dev.sluice.api.config.FeatureGate.Stage.BETA;
import static dev.sluice.api.config.FeatureGate.Stage.DEPRECATED;
import static dev.sluice.api.config.FeatureGate.Stage.LOCKED;
import static dev.sluice.api.config.FeatureGate.Today.EITHER;
import static dev.sluice.api.config.FeatureGate.Today.OFF;
import static dev.sluice.api.config.FeatureGate.Today.ON;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A named switch of the configuration API, with the default and the stage it has in this version of
 * the API, and with the values that work today. A value that doesn't work is refused by name, so
 * that nobody believes it to work; but the API's default is accepted from a file that spells out
 * every gate, and the start of the operator tells which defaults are missing here.
 */
public enum FeatureGate {
  ADMISSION_FAIR_SHARING("AdmissionFairSharing", true, BETA, EITHER),
  ADMISSION_FAIR_SHARING_ANCHOR_AT_QUOTA_RESERVATION(
      "AdmissionFairSharingAnchorAtQuotaReservation", true, BETA, EITHER, "AdmissionFairSharing"),
  ADMISSION_GATED_BY("AdmissionGatedBy", true, BETA, EITHER),
  ASSIGN_QUEUE_LABELS_FOR_PODS("AssignQueueLabelsForPods", true, BETA, EITHER),
  CLASSICAL_PREEMPTION_CANDIDATE_ORDER_CACHE(
      "ClassicalPreemptionCandidateOrderCache", false, ALPHA, EITHER),
  CLEANUP_PROVISIONING_REQUESTS_ON_EVICTION(
      "CleanupProvisioningRequestsOnEviction", true, BETA, EITHER),
  CONCURRENT_ADMISSION("ConcurrentAdmission", false, ALPHA, EITHER),
  CONFIGURABLE_PREEMPTIONS("ConfigurablePreemptions", false, ALPHA, EITHER),
  CUSTOM_METRIC_LABELS("CustomMetricLabels", false, ALPHA, EITHER),
  DEFER_RAY_SERVICE_FINALIZATION_FOR_REDIS_CLEANUP(
      "DeferRayServiceFinalizationForRedisCleanup", true, BETA, EITHER),
  DEPLOYMENT_JOB_UID_LABEL("DeploymentJobUIDLabel", true, BETA, EITHER),
  DISABLE_WAIT_FOR_PODS_READY("DisableWaitForPodsReady", false, ALPHA, EITHER),
  DYNAMIC_QUOTA_ORCHESTRATION("DynamicQuotaOrchestration", false, ALPHA, EITHER),
  ELASTIC_JOBS_VIA_WORKLOAD_SLICES("ElasticJobsViaWorkloadSlices", true, BETA, EITHER),
  ELASTIC_JOBS_VIA_WORKLOAD_SLICES_FLAVOR_CHANGE_FROM_ZERO(
      "ElasticJobsViaWorkloadSlicesFlavorChangeFromZero",
      false,
      ALPHA,
      EITHER,
      "ElasticJobsViaWorkloadSlices"),
  ELASTIC_JOBS_VIA_WORKLOAD_SLICES_FOR_PROVISIONING_REQUESTS(
      "ElasticJobsViaWorkloadSlicesForProvisioningRequests",
      false,
      ALPHA,
      EITHER,
      "ElasticJobsViaWorkloadSlices"),
  ELASTIC_JOBS_VIA_WORKLOAD_SLICES_WITH_TAS(
      "ElasticJobsViaWorkloadSlicesWithTAS",
      false,
      ALPHA,
      EITHER,
      "ElasticJobsViaWorkloadSlices",
      "TopologyAwareScheduling"),
  ENFORCE_PROVISIONING_POD_TEMPLATE_CONTENTS(
      "EnforceProvisioningPodTemplateContents", true, BETA, EITHER),
  FAILURE_RECOVERY_POLICY("FailureRecoveryPolicy", false, ALPHA, EITHER),
  FAIR_SHARING_PREEMPT_WITHIN_NOMINAL("FairSharingPreemptWithinNominal", true, BETA, EITHER),
  FAIR_SHARING_PRIORITIZE_NON_BORROWING("FairSharingPrioritizeNonBorrowing", true, BETA, EITHER),
  FAIR_SHARING_REEVALUATE_PREEMPTION_CANDIDATES(
      "FairSharingReevaluatePreemptionCandidates", false, ALPHA, OFF),
  FAIR_SHARING_REFILL("FairSharingRefill", false, ALPHA, EITHER),
  FAST_QUOTA_RELEASE_IN_POD_INTEGRATION("FastQuotaReleaseInPodIntegration", false, ALPHA, EITHER),
  FINISH_ORPHANED_WORKLOADS("FinishOrphanedWorkloads", true, BETA, EITHER),
  FLAVOR_FUNGIBILITY("FlavorFungibility", true, BETA, EITHER),
  FLAVOR_FUNGIBILITY_PRESERVE_SCAN_PROGRESS(
      "FlavorFungibilityPreserveScanProgress", true, BETA, EITHER, "FlavorFungibility"),
  HIGH_MAX_PARALLELISM_WITHIN_RECONCILE("HighMaxParallelismWithinReconcile", true, BETA, EITHER),
  KUEUE_DRA_DEVICE_FEASIBILITY(
      "KueueDRADeviceFeasibility", false, ALPHA, EITHER, "KueueDRAIntegration"),
  KUEUE_DRA_DEVICE_TAINTS("KueueDRADeviceTaints", false, ALPHA, EITHER, "KueueDRAIntegration"),
  KUEUE_DRA_INTEGRATION("KueueDRAIntegration", true, BETA, EITHER),
  KUEUE_DRA_INTEGRATION_CONSUMABLE_CAPACITY(
      "KueueDRAIntegrationConsumableCapacity", false, ALPHA, EITHER, "KueueDRAIntegration"),
  KUEUE_DRA_INTEGRATION_EXTENDED_RESOURCE(
      "KueueDRAIntegrationExtendedResource", true, BETA, EITHER, "KueueDRAIntegration"),
  KUEUE_DRA_INTEGRATION_PARTITIONABLE_DEVICES(
      "KueueDRAIntegrationPartitionableDevices", true, BETA, EITHER, "KueueDRAIntegration"),
  KUEUE_DRA_PRIORITIZED_LIST(
      "KueueDRAPrioritizedList", false, ALPHA, EITHER, "KueueDRAIntegration"),
  KUEUE_DRA_REJECT_WORKLOADS_WHEN_DRA_DISABLED(
      "KueueDRARejectWorkloadsWhenDRADisabled", true, BETA, EITHER),
  LOCAL_QUEUE_METRICS("LocalQueueMetrics", true, BETA, EITHER),
  LOG_LEVEL_FOR_SCHEDULER_MAIN_LOOP("LogLevelForSchedulerMainLoop", false, ALPHA, EITHER),
  LWS_IMMUTABLE_GROUP_SIZE("LWSImmutableGroupSize", true, BETA, EITHER),
  MANAGED_JOBS_NAMESPACE_SELECTOR_ALWAYS_RESPECTED(
      "ManagedJobsNamespaceSelectorAlwaysRespected", true, LOCKED, ON),
  METRIC_FOR_WORKLOAD_CREATION_LATENCY("MetricForWorkloadCreationLatency", true, BETA, EITHER),
  METRICS_FOR_COHORTS("MetricsForCohorts", true, BETA, EITHER),
  MULTI_KUEUE("MultiKueue", true, BETA, EITHER),
  MULTI_KUEUE_ADAPTERS_FOR_CUSTOM_JOBS("MultiKueueAdaptersForCustomJobs", true, BETA, EITHER),
  MULTI_KUEUE_BATCH_JOB_CLEARING_TTL_SECONDS_AFTER_FINISHED_ON_WORKER_CLUSTER(
      "MultiKueueBatchJobClearingTTLSecondsAfterFinishedOnWorkerCluster", false, ALPHA, EITHER),
  MULTI_KUEUE_CLUSTER_PROFILE("MultiKueueClusterProfile", false, ALPHA, EITHER),
  MULTI_KUEUE_INCREMENTAL_DISPATCHER_CONFIG(
      "MultiKueueIncrementalDispatcherConfig", true, BETA, EITHER),
  MULTI_KUEUE_INCREMENTAL_DISPATCHER_RESPECT_CONFIG_ORDER(
      "MultiKueueIncrementalDispatcherRespectConfigOrder", true, BETA, EITHER),
  MULTI_KUEUE_KUBE_CONFIG_PATH_VALIDATION("MultiKueueKubeConfigPathValidation", true, BETA, EITHER),
  MULTI_KUEUE_MANAGER_QUOTA_AUTOMATION("MultiKueueManagerQuotaAutomation", false, ALPHA, EITHER),
  MULTI_KUEUE_ORCHESTRATED_PREEMPTION("MultiKueueOrchestratedPreemption", true, BETA, EITHER),
  MULTI_KUEUE_RAY_IN_TREE_AUTOSCALING("MultiKueueRayInTreeAutoscaling", false, ALPHA, EITHER),
  MULTI_KUEUE_REMOTE_SPEC_SYNC("MultiKueueRemoteSpecSync", true, BETA, EITHER),
  MULTI_KUEUE_REUSE_CLIENT_CONNECTION_CONFIG_FOR_WORKERS(
      "MultiKueueReuseClientConnectionConfigForWorkers", true, BETA, EITHER),
  NODE_CAPACITY_PROVIDER("NodeCapacityProvider", false, ALPHA, EITHER, "DynamicQuotaOrchestration"),
  PARTIAL_ADMISSION("PartialAdmission", true, BETA, EITHER),
  POD_GROUP_SCHEDULING_SHAPE_ORDERING("PodGroupSchedulingShapeOrdering", true, BETA, EITHER),
  POD_INTEGRATION_COUNT_SUCCEEDED_PODS_AS_READY(
      "PodIntegrationCountSucceededPodsAsReady", true, BETA, EITHER),
  POD_INTEGRATION_VALIDATE_GROUP_OWNER("PodIntegrationValidateGroupOwner", true, BETA, EITHER),
  PRIORITIZE_PREEMPTOR_WORKLOADS("PrioritizePreemptorWorkloads", false, ALPHA, EITHER),
  PRIORITY_BOOST("PriorityBoost", false, ALPHA, EITHER),
  PRIORITY_SORTING_WITHIN_COHORT("PrioritySortingWithinCohort", true, BETA, EITHER),
  QUOTA_CHECK_STRATEGY("QuotaCheckStrategy", true, BETA, EITHER),
  RAY_SERVICE_VALIDATE_UPGRADE_STRATEGY("RayServiceValidateUpgradeStrategy", true, BETA, EITHER),
  RECLAIMABLE_PODS("ReclaimablePods", true, BETA, EITHER),
  RECOMPUTE_ASSIGNMENT_UPON_PREEMPTION_TARGETS_OVERLAP(
      "RecomputeAssignmentUponPreemptionTargetsOverlap", true, BETA, EITHER),
  REJECT_UPDATES_TO_CQ_WITH_INVALID_ON_FLAVORS(
      "RejectUpdatesToCQWithInvalidOnFlavors", true, BETA, EITHER),
  REMOVE_FINALIZERS_WITH_STRICT_PATCH("RemoveFinalizersWithStrictPatch", true, BETA, EITHER),
  SCHEDULER_LIBRARY_INTEGRATION("SchedulerLibraryIntegration", false, ALPHA, OFF),
  SCHEDULING_EQUIVALENCE_HASHING("SchedulingEquivalenceHashing", true, BETA, EITHER),
  SCHEDULING_EQUIVALENCE_HASHING_IGNORE_POD_SET_NAME(
      "SchedulingEquivalenceHashingIgnorePodSetName", true, BETA, EITHER),
  SHORT_WORKLOAD_NAMES("ShortWorkloadNames", false, ALPHA, EITHER),
  SKIP_ANCESTOR_CHECK_FOR_DELETED_WORKLOADS(
      "SkipAncestorCheckForDeletedWorkloads", true, BETA, EITHER),
  SKIP_REASSIGNMENT_FOR_POD_OWNED_WORKLOADS(
      "SkipReassignmentForPodOwnedWorkloads", true, BETA, EITHER),
  SPARK_APPLICATION_INTEGRATION("SparkApplicationIntegration", false, ALPHA, EITHER),
  TAS_ASSIGNMENTS_ENCODING_BY_HOSTNAME_PREFIX(
      "TASAssignmentsEncodingByHostnamePrefix", true, BETA, EITHER, "TopologyAwareScheduling"),
  TAS_BALANCED_PLACEMENT("TASBalancedPlacement", false, ALPHA, EITHER, "TopologyAwareScheduling"),
  TAS_CACHE_NODE_MATCH_RESULTS(
      "TASCacheNodeMatchResults", true, BETA, EITHER, "TopologyAwareScheduling"),
  TAS_CACHE_TOPOLOGY_TREE("TASCacheTopologyTree", true, BETA, EITHER, "TopologyAwareScheduling"),
  TAS_CACHING_REMAINING_RESOURCES(
      "TASCachingRemainingResources", true, BETA, EITHER, "TopologyAwareScheduling"),
  TAS_FAILED_NODE_REPLACEMENT(
      "TASFailedNodeReplacement", true, BETA, EITHER, "TopologyAwareScheduling"),
  TAS_FAILED_NODE_REPLACEMENT_FAIL_FAST(
      "TASFailedNodeReplacementFailFast",
      true,
      BETA,
      EITHER,
      "TopologyAwareScheduling",
      "TASFailedNodeReplacement"),
  TAS_GROUPED_POD_SET_SLICING(
      "TASGroupedPodSetSlicing", true, BETA, EITHER, "TopologyAwareScheduling"),
  TAS_HANDLE_OVERLAPPING_FLAVORS(
      "TASHandleOverlappingFlavors", true, BETA, EITHER, "TopologyAwareScheduling"),
  TAS_LEADER_POD_SET_FEASIBILITY(
      "TASLeaderPodSetFeasibility", true, BETA, EITHER, "TopologyAwareScheduling"),
  TAS_MULTI_LAYER_TOPOLOGY("TASMultiLayerTopology", true, BETA, EITHER, "TopologyAwareScheduling"),
  TAS_NODE_FEASIBILITY_FOR_ALL_LEVELS(
      "TASNodeFeasibilityForAllLevels", true, BETA, EITHER, "TopologyAwareScheduling"),
  TAS_PARTIAL_SLICES("TASPartialSlices", true, BETA, EITHER, "TopologyAwareScheduling"),
  TAS_PROFILE_MIXED("TASProfileMixed", true, BETA, EITHER, "TopologyAwareScheduling"),
  TAS_RECOMPUTE_ASSIGNMENT_WITHIN_SCHEDULING_CYCLE(
      "TASRecomputeAssignmentWithinSchedulingCycle", true, BETA, EITHER, "TopologyAwareScheduling"),
  TAS_REJECT_FALSE_UNCONSTRAINED_TOPOLOGY(
      "TASRejectFalseUnconstrainedTopology", true, BETA, EITHER, "TopologyAwareScheduling"),
  TAS_REPLACE_MULTIPLE_FAILED_NODES(
      "TASReplaceMultipleFailedNodes",
      false,
      ALPHA,
      EITHER,
      "TopologyAwareScheduling",
      "TASFailedNodeReplacement"),
  TAS_REPLACE_NODE_DUE_TO_NOT_READY_OVER_FIXED_TIME(
      "TASReplaceNodeDueToNotReadyOverFixedTime",
      false,
      DEPRECATED,
      EITHER,
      "TopologyAwareScheduling",
      "TASFailedNodeReplacement"),
  TAS_REPLACE_NODE_ON_NODE_TAINTS(
      "TASReplaceNodeOnNodeTaints", true, BETA, EITHER, "TopologyAwareScheduling"),
  TAS_REPLACE_NODE_ON_POD_TERMINATION(
      "TASReplaceNodeOnPodTermination",
      true,
      BETA,
      EITHER,
      "TopologyAwareScheduling",
      "TASFailedNodeReplacement"),
  TAS_RESPECT_NODE_AFFINITY_PREFERRED(
      "TASRespectNodeAffinityPreferred", false, ALPHA, EITHER, "TopologyAwareScheduling"),
  TAS_TOPOLOGY_SPREADING("TASTopologySpreading", false, ALPHA, EITHER, "TopologyAwareScheduling"),
  TAS_VALIDATE_WORKLOAD_SLICE_SIZE(
      "TASValidateWorkloadSliceSize", true, BETA, EITHER, "TopologyAwareScheduling"),
  TLS_OPTIONS("TLSOptions", true, LOCKED, ON),
  TOPOLOGY_AWARE_SCHEDULING("TopologyAwareScheduling", true, BETA, EITHER),
  UNADMITTED_WORKLOADS_EXPLICIT_STATUS(
      "UnadmittedWorkloadsExplicitStatus", false, BETA, EITHER, "UnadmittedWorkloadsObservability"),
  UNADMITTED_WORKLOADS_OBSERVABILITY("UnadmittedWorkloadsObservability", true, BETA, ON),
  VALIDATE_RAY_AND_SPARK_JOB_UPDATES("ValidateRayAndSparkJobUpdates", true, BETA, EITHER),
  VECTORIZED_RESOURCE_REQUESTS("VectorizedResourceRequests", true, BETA, EITHER),
  VISIBILITY_ON_DEMAND("VisibilityOnDemand", true, BETA, EITHER),
  WAIT_FOR_PODS_READY_MAX_NOT_READY("WaitForPodsReadyMaxNotReady", false, ALPHA, EITHER),
  WAIT_FOR_PODS_READY_UNSCHEDULED_TIMEOUT(
      "WaitForPodsReadyUnscheduledTimeout", false, ALPHA, EITHER),
  WAS_POD_GROUPS("WASPodGroups", false, ALPHA, EITHER),
  WORKLOAD_IDENTIFIER_ANNOTATIONS("WorkloadIdentifierAnnotations", true, BETA, EITHER),
  WORKLOAD_LEVEL_WAIT_FOR_PODS_READY("WorkloadLevelWaitForPodsReady", false, ALPHA, EITHER),
  WORKLOAD_PRIORITY_CLASS_DEFAULTING("WorkloadPriorityClassDefaulting", true, BETA, EITHER),
  WORKLOAD_REQUEST_USE_MERGE_PATCH("WorkloadRequestUseMergePatch", false, ALPHA, EITHER),
  WORKLOAD_VALIDATE_RESOURCES_ARE_NON_NEGATIVE(
      "WorkloadValidateResourcesAreNonNegative", true, BETA, EITHER),
  WORKLOAD_VALIDATION_FOR_POD_SET_METADATA(
      "WorkloadValidationForPodSetMetadata", true, BETA, EITHER);

  /** How far a gate has come. */
  public enum Stage {
    /** Off unless asked for, may change. */
    ALPHA,
    /** Settled enough to be relied on. */
    BETA,
    /** On its way out. */
    DEPRECATED,
    /** Decided for good: the value can't be changed. */
    LOCKED
  }

  /** Which values of a gate work in this version of Sluice. */
  enum Today {
    /** The feature is missing. */
    OFF,
    /** The feature is there and can't be switched off. */
    ON,
    /** Both work, or neither changes anything here. */
    EITHER
  }

  private final String text;
  private final boolean onByDefault;
  private final Stage stage;
  private final Today today;
  private final List<String> needs;

  FeatureGate(String text, boolean onByDefault, Stage stage, Today today, String... needs) {
    this.text = text;
    this.onByDefault = onByDefault;
    this.stage = stage;
    this.today = today;
    this.needs = List.of(needs);
  }

  /** The gate's name as people write it, such as {@code PartialAdmission}. */
  public String text() {
    return text;
  }

  /** The value the API gives to a gate that nobody set. */
  public boolean onByDefault() {
    return onByDefault;
  }

  /** How far the gate has come. */
  public Stage stage() {
    return stage;
  }

  /** Whether the gate can have this value today. */
  public boolean works(boolean value) {
    return today == Today.EITHER || (today == Today.ON) == value;
  }

  /** Whether a file may give the gate this value: what works, and the API's default. */
  boolean accepts(boolean value) {
    return works(value) || value == onByDefault;
  }

  /** The value of the gate where nobody set it: the API's default if that works, else what does. */
  boolean valueToday() {
    return works(onByDefault) == onByDefault;
  }

  /** Whether the value is decided for good. */
  public boolean locked() {
    return stage == Stage.LOCKED;
  }

  /** The gates that must be on where this one is on. */
  public List<FeatureGate> needs() {
    return needs.stream().map(name -> named(name).orElseThrow()).toList();
  }

  /** The gate with exactly this name. */
  public static Optional<FeatureGate> named(String text) {
    return Arrays.stream(values()).filter(gate -> gate.text.equals(text)).findFirst();
  }
}
