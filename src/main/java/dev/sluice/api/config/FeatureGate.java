package dev.sluice.api.config;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A named switch of the configuration API, with the default and the stage it has in this version of
 * the API. Which values work today is told by {@link SupportedFeatures}, not here.
 */
public enum FeatureGate {
  ADMISSION_FAIR_SHARING("AdmissionFairSharing", true, Stage.BETA),
  ADMISSION_GATED_BY("AdmissionGatedBy", true, Stage.BETA),
  ASSIGN_QUEUE_LABELS_FOR_PODS("AssignQueueLabelsForPods", true, Stage.BETA),
  CLEANUP_PROVISIONING_REQUESTS_ON_EVICTION(
      "CleanupProvisioningRequestsOnEviction", true, Stage.BETA),
  CONCURRENT_ADMISSION("ConcurrentAdmission", false, Stage.ALPHA),
  CUSTOM_METRIC_LABELS("CustomMetricLabels", false, Stage.ALPHA),
  DEFER_RAY_SERVICE_FINALIZATION_FOR_REDIS_CLEANUP(
      "DeferRayServiceFinalizationForRedisCleanup", true, Stage.BETA),
  DISABLE_WAIT_FOR_PODS_READY("DisableWaitForPodsReady", false, Stage.ALPHA),
  ELASTIC_JOBS_VIA_WORKLOAD_SLICES("ElasticJobsViaWorkloadSlices", true, Stage.BETA),
  ELASTIC_JOBS_VIA_WORKLOAD_SLICES_WITH_TAS(
      "ElasticJobsViaWorkloadSlicesWithTAS",
      false,
      Stage.ALPHA,
      "ElasticJobsViaWorkloadSlices",
      "TopologyAwareScheduling"),
  FAILURE_RECOVERY_POLICY("FailureRecoveryPolicy", false, Stage.ALPHA),
  FAIR_SHARING_PREEMPT_WITHIN_NOMINAL("FairSharingPreemptWithinNominal", true, Stage.BETA),
  FAIR_SHARING_PRIORITIZE_NON_BORROWING("FairSharingPrioritizeNonBorrowing", true, Stage.BETA),
  FAST_QUOTA_RELEASE_IN_POD_INTEGRATION("FastQuotaReleaseInPodIntegration", false, Stage.ALPHA),
  FINISH_ORPHANED_WORKLOADS("FinishOrphanedWorkloads", true, Stage.BETA),
  FLAVOR_FUNGIBILITY("FlavorFungibility", true, Stage.BETA),
  FLAVOR_FUNGIBILITY_PRESERVE_SCAN_PROGRESS(
      "FlavorFungibilityPreserveScanProgress", true, Stage.BETA, "FlavorFungibility"),
  KUEUE_DRA_INTEGRATION("KueueDRAIntegration", true, Stage.BETA),
  KUEUE_DRA_INTEGRATION_CONSUMABLE_CAPACITY(
      "KueueDRAIntegrationConsumableCapacity", false, Stage.ALPHA, "KueueDRAIntegration"),
  KUEUE_DRA_INTEGRATION_EXTENDED_RESOURCE(
      "KueueDRAIntegrationExtendedResource", true, Stage.BETA, "KueueDRAIntegration"),
  KUEUE_DRA_INTEGRATION_PARTITIONABLE_DEVICES(
      "KueueDRAIntegrationPartitionableDevices", true, Stage.BETA, "KueueDRAIntegration"),
  KUEUE_DRA_REJECT_WORKLOADS_WHEN_DRA_DISABLED(
      "KueueDRARejectWorkloadsWhenDRADisabled", true, Stage.BETA),
  LOCAL_QUEUE_METRICS("LocalQueueMetrics", true, Stage.BETA),
  LWS_IMMUTABLE_GROUP_SIZE("LWSImmutableGroupSize", true, Stage.BETA),
  MANAGED_JOBS_NAMESPACE_SELECTOR_ALWAYS_RESPECTED(
      "ManagedJobsNamespaceSelectorAlwaysRespected", true, Stage.LOCKED),
  METRIC_FOR_WORKLOAD_CREATION_LATENCY("MetricForWorkloadCreationLatency", true, Stage.BETA),
  METRICS_FOR_COHORTS("MetricsForCohorts", true, Stage.BETA),
  MULTI_KUEUE("MultiKueue", true, Stage.BETA),
  MULTI_KUEUE_ADAPTERS_FOR_CUSTOM_JOBS("MultiKueueAdaptersForCustomJobs", true, Stage.BETA),
  MULTI_KUEUE_CLUSTER_PROFILE("MultiKueueClusterProfile", false, Stage.ALPHA),
  MULTI_KUEUE_INCREMENTAL_DISPATCHER_CONFIG(
      "MultiKueueIncrementalDispatcherConfig", true, Stage.BETA),
  MULTI_KUEUE_INCREMENTAL_DISPATCHER_RESPECT_CONFIG_ORDER(
      "MultiKueueIncrementalDispatcherRespectConfigOrder", true, Stage.BETA),
  MULTI_KUEUE_KUBE_CONFIG_PATH_VALIDATION("MultiKueueKubeConfigPathValidation", true, Stage.BETA),
  MULTI_KUEUE_MANAGER_QUOTA_AUTOMATION("MultiKueueManagerQuotaAutomation", false, Stage.ALPHA),
  MULTI_KUEUE_ORCHESTRATED_PREEMPTION("MultiKueueOrchestratedPreemption", false, Stage.ALPHA),
  MULTI_KUEUE_REMOTE_SPEC_SYNC("MultiKueueRemoteSpecSync", true, Stage.BETA),
  PARTIAL_ADMISSION("PartialAdmission", true, Stage.BETA),
  POD_INTEGRATION_VALIDATE_GROUP_OWNER("PodIntegrationValidateGroupOwner", true, Stage.BETA),
  PRIORITIZE_PREEMPTOR_WORKLOADS("PrioritizePreemptorWorkloads", false, Stage.ALPHA),
  PRIORITY_BOOST("PriorityBoost", false, Stage.ALPHA),
  PRIORITY_SORTING_WITHIN_COHORT("PrioritySortingWithinCohort", true, Stage.BETA),
  QUOTA_CHECK_STRATEGY("QuotaCheckStrategy", true, Stage.BETA),
  RECLAIMABLE_PODS("ReclaimablePods", true, Stage.BETA),
  RECOMPUTE_ASSIGNMENT_UPON_PREEMPTION_TARGETS_OVERLAP(
      "RecomputeAssignmentUponPreemptionTargetsOverlap", true, Stage.BETA),
  REJECT_UPDATES_TO_CQ_WITH_INVALID_ON_FLAVORS(
      "RejectUpdatesToCQWithInvalidOnFlavors", false, Stage.ALPHA),
  REMOVE_FINALIZERS_WITH_STRICT_PATCH("RemoveFinalizersWithStrictPatch", true, Stage.BETA),
  SCHEDULER_LIBRARY_INTEGRATION("SchedulerLibraryIntegration", false, Stage.ALPHA),
  SCHEDULING_EQUIVALENCE_HASHING("SchedulingEquivalenceHashing", true, Stage.BETA),
  SHORT_WORKLOAD_NAMES("ShortWorkloadNames", false, Stage.ALPHA),
  SKIP_ANCESTOR_CHECK_FOR_DELETED_WORKLOADS(
      "SkipAncestorCheckForDeletedWorkloads", true, Stage.BETA),
  SKIP_REASSIGNMENT_FOR_POD_OWNED_WORKLOADS(
      "SkipReassignmentForPodOwnedWorkloads", true, Stage.BETA),
  SPARK_APPLICATION_INTEGRATION("SparkApplicationIntegration", false, Stage.ALPHA),
  TAS_ASSIGNMENTS_ENCODING_BY_HOSTNAME_PREFIX(
      "TASAssignmentsEncodingByHostnamePrefix", true, Stage.BETA, "TopologyAwareScheduling"),
  TAS_BALANCED_PLACEMENT("TASBalancedPlacement", false, Stage.ALPHA, "TopologyAwareScheduling"),
  TAS_CACHE_NODE_MATCH_RESULTS(
      "TASCacheNodeMatchResults", true, Stage.BETA, "TopologyAwareScheduling"),
  TAS_CACHE_TOPOLOGY_TREE("TASCacheTopologyTree", true, Stage.BETA, "TopologyAwareScheduling"),
  TAS_CACHING_REMAINING_RESOURCES(
      "TASCachingRemainingResources", true, Stage.BETA, "TopologyAwareScheduling"),
  TAS_FAILED_NODE_REPLACEMENT(
      "TASFailedNodeReplacement", true, Stage.BETA, "TopologyAwareScheduling"),
  TAS_FAILED_NODE_REPLACEMENT_FAIL_FAST(
      "TASFailedNodeReplacementFailFast",
      true,
      Stage.BETA,
      "TopologyAwareScheduling",
      "TASFailedNodeReplacement"),
  TAS_HANDLE_OVERLAPPING_FLAVORS(
      "TASHandleOverlappingFlavors", true, Stage.BETA, "TopologyAwareScheduling"),
  TAS_MULTI_LAYER_TOPOLOGY("TASMultiLayerTopology", true, Stage.BETA, "TopologyAwareScheduling"),
  TAS_PROFILE_MIXED("TASProfileMixed", true, Stage.BETA, "TopologyAwareScheduling"),
  TAS_RECOMPUTE_ASSIGNMENT_WITHIN_SCHEDULING_CYCLE(
      "TASRecomputeAssignmentWithinSchedulingCycle", true, Stage.BETA, "TopologyAwareScheduling"),
  TAS_REPLACE_NODE_DUE_TO_NOT_READY_OVER_FIXED_TIME(
      "TASReplaceNodeDueToNotReadyOverFixedTime",
      false,
      Stage.DEPRECATED,
      "TopologyAwareScheduling",
      "TASFailedNodeReplacement"),
  TAS_REPLACE_NODE_ON_NODE_TAINTS(
      "TASReplaceNodeOnNodeTaints", true, Stage.BETA, "TopologyAwareScheduling"),
  TAS_REPLACE_NODE_ON_POD_TERMINATION(
      "TASReplaceNodeOnPodTermination",
      true,
      Stage.BETA,
      "TopologyAwareScheduling",
      "TASFailedNodeReplacement"),
  TAS_RESPECT_NODE_AFFINITY_PREFERRED(
      "TASRespectNodeAffinityPreferred", false, Stage.ALPHA, "TopologyAwareScheduling"),
  TAS_VALIDATE_WORKLOAD_SLICE_SIZE(
      "TASValidateWorkloadSliceSize", true, Stage.BETA, "TopologyAwareScheduling"),
  TLS_OPTIONS("TLSOptions", true, Stage.LOCKED),
  TOPOLOGY_AWARE_SCHEDULING("TopologyAwareScheduling", true, Stage.BETA),
  UNADMITTED_WORKLOADS_EXPLICIT_STATUS(
      "UnadmittedWorkloadsExplicitStatus", false, Stage.BETA, "UnadmittedWorkloadsObservability"),
  UNADMITTED_WORKLOADS_OBSERVABILITY("UnadmittedWorkloadsObservability", true, Stage.BETA),
  VALIDATE_RAY_AND_SPARK_JOB_UPDATES("ValidateRayAndSparkJobUpdates", true, Stage.BETA),
  VECTORIZED_RESOURCE_REQUESTS("VectorizedResourceRequests", true, Stage.BETA),
  VISIBILITY_ON_DEMAND("VisibilityOnDemand", true, Stage.BETA),
  WORKLOAD_IDENTIFIER_ANNOTATIONS("WorkloadIdentifierAnnotations", true, Stage.BETA),
  WORKLOAD_PRIORITY_CLASS_DEFAULTING("WorkloadPriorityClassDefaulting", true, Stage.BETA),
  WORKLOAD_REQUEST_USE_MERGE_PATCH("WorkloadRequestUseMergePatch", false, Stage.ALPHA),
  WORKLOAD_VALIDATE_RESOURCES_ARE_NON_NEGATIVE(
      "WorkloadValidateResourcesAreNonNegative", true, Stage.BETA),
  WORKLOAD_VALIDATION_FOR_POD_SET_METADATA("WorkloadValidationForPodSetMetadata", true, Stage.BETA);

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

  private final String text;
  private final boolean onByDefault;
  private final Stage stage;
  private final List<String> needs;

  FeatureGate(String text, boolean onByDefault, Stage stage, String... needs) {
    this.text = text;
    this.onByDefault = onByDefault;
    this.stage = stage;
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
