package dev.sluice.api.config;

import static dev.sluice.api.config.FeatureGate.ADMISSION_FAIR_SHARING;
import static dev.sluice.api.config.FeatureGate.ADMISSION_GATED_BY;
import static dev.sluice.api.config.FeatureGate.ASSIGN_QUEUE_LABELS_FOR_PODS;
import static dev.sluice.api.config.FeatureGate.DISABLE_WAIT_FOR_PODS_READY;
import static dev.sluice.api.config.FeatureGate.FAIR_SHARING_PREEMPT_WITHIN_NOMINAL;
import static dev.sluice.api.config.FeatureGate.FAIR_SHARING_PRIORITIZE_NON_BORROWING;
import static dev.sluice.api.config.FeatureGate.FINISH_ORPHANED_WORKLOADS;
import static dev.sluice.api.config.FeatureGate.FLAVOR_FUNGIBILITY;
import static dev.sluice.api.config.FeatureGate.FLAVOR_FUNGIBILITY_PRESERVE_SCAN_PROGRESS;
import static dev.sluice.api.config.FeatureGate.KUEUE_DRA_REJECT_WORKLOADS_WHEN_DRA_DISABLED;
import static dev.sluice.api.config.FeatureGate.LOCAL_QUEUE_METRICS;
import static dev.sluice.api.config.FeatureGate.MANAGED_JOBS_NAMESPACE_SELECTOR_ALWAYS_RESPECTED;
import static dev.sluice.api.config.FeatureGate.METRICS_FOR_COHORTS;
import static dev.sluice.api.config.FeatureGate.METRIC_FOR_WORKLOAD_CREATION_LATENCY;
import static dev.sluice.api.config.FeatureGate.MULTI_KUEUE;
import static dev.sluice.api.config.FeatureGate.MULTI_KUEUE_ADAPTERS_FOR_CUSTOM_JOBS;
import static dev.sluice.api.config.FeatureGate.MULTI_KUEUE_CLUSTER_PROFILE;
import static dev.sluice.api.config.FeatureGate.MULTI_KUEUE_INCREMENTAL_DISPATCHER_CONFIG;
import static dev.sluice.api.config.FeatureGate.MULTI_KUEUE_INCREMENTAL_DISPATCHER_RESPECT_CONFIG_ORDER;
import static dev.sluice.api.config.FeatureGate.MULTI_KUEUE_KUBE_CONFIG_PATH_VALIDATION;
import static dev.sluice.api.config.FeatureGate.MULTI_KUEUE_MANAGER_QUOTA_AUTOMATION;
import static dev.sluice.api.config.FeatureGate.MULTI_KUEUE_ORCHESTRATED_PREEMPTION;
import static dev.sluice.api.config.FeatureGate.MULTI_KUEUE_REMOTE_SPEC_SYNC;
import static dev.sluice.api.config.FeatureGate.PARTIAL_ADMISSION;
import static dev.sluice.api.config.FeatureGate.POD_INTEGRATION_VALIDATE_GROUP_OWNER;
import static dev.sluice.api.config.FeatureGate.PRIORITY_BOOST;
import static dev.sluice.api.config.FeatureGate.PRIORITY_SORTING_WITHIN_COHORT;
import static dev.sluice.api.config.FeatureGate.QUOTA_CHECK_STRATEGY;
import static dev.sluice.api.config.FeatureGate.RECLAIMABLE_PODS;
import static dev.sluice.api.config.FeatureGate.REJECT_UPDATES_TO_CQ_WITH_INVALID_ON_FLAVORS;
import static dev.sluice.api.config.FeatureGate.REMOVE_FINALIZERS_WITH_STRICT_PATCH;
import static dev.sluice.api.config.FeatureGate.SCHEDULING_EQUIVALENCE_HASHING;
import static dev.sluice.api.config.FeatureGate.SHORT_WORKLOAD_NAMES;
import static dev.sluice.api.config.FeatureGate.TLS_OPTIONS;
import static dev.sluice.api.config.FeatureGate.UNADMITTED_WORKLOADS_EXPLICIT_STATUS;
import static dev.sluice.api.config.FeatureGate.UNADMITTED_WORKLOADS_OBSERVABILITY;
import static dev.sluice.api.config.FeatureGate.VECTORIZED_RESOURCE_REQUESTS;
import static dev.sluice.api.config.FeatureGate.WORKLOAD_IDENTIFIER_ANNOTATIONS;
import static dev.sluice.api.config.FeatureGate.WORKLOAD_PRIORITY_CLASS_DEFAULTING;
import static dev.sluice.api.config.FeatureGate.WORKLOAD_REQUEST_USE_MERGE_PATCH;
import static dev.sluice.api.config.FeatureGate.WORKLOAD_VALIDATE_RESOURCES_ARE_NON_NEGATIVE;
import static dev.sluice.api.config.FeatureGate.WORKLOAD_VALIDATION_FOR_POD_SET_METADATA;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * What of the configuration works today. This is the one place to change when a capability arrives:
 * whatever is listed here as missing is refused by name, so that nobody believes it to work.
 */
final class SupportedFeatures {

  /** The job frameworks that are there. */
  static final List<String> FRAMEWORKS = List.of("batch/job", "deployment", "pod", "statefulset");

  /** Gates whose feature is there and can't be switched off. */
  private static final Set<FeatureGate> ALWAYS_ON =
      EnumSet.of(
          ADMISSION_GATED_BY,
          FLAVOR_FUNGIBILITY,
          FLAVOR_FUNGIBILITY_PRESERVE_SCAN_PROGRESS,
          MANAGED_JOBS_NAMESPACE_SELECTOR_ALWAYS_RESPECTED,
          POD_INTEGRATION_VALIDATE_GROUP_OWNER,
          PRIORITY_SORTING_WITHIN_COHORT,
          RECLAIMABLE_PODS,
          SCHEDULING_EQUIVALENCE_HASHING,
          TLS_OPTIONS,
          UNADMITTED_WORKLOADS_OBSERVABILITY,
          WORKLOAD_IDENTIFIER_ANNOTATIONS);

  /** Gates that can be set either way: both ways work, or neither changes anything here. */
  private static final Set<FeatureGate> EITHER =
      EnumSet.of(
          ADMISSION_FAIR_SHARING,
          ASSIGN_QUEUE_LABELS_FOR_PODS,
          DISABLE_WAIT_FOR_PODS_READY,
          FAIR_SHARING_PREEMPT_WITHIN_NOMINAL,
          FAIR_SHARING_PRIORITIZE_NON_BORROWING,
          FINISH_ORPHANED_WORKLOADS,
          KUEUE_DRA_REJECT_WORKLOADS_WHEN_DRA_DISABLED,
          LOCAL_QUEUE_METRICS,
          METRICS_FOR_COHORTS,
          METRIC_FOR_WORKLOAD_CREATION_LATENCY,
          MULTI_KUEUE,
          MULTI_KUEUE_ADAPTERS_FOR_CUSTOM_JOBS,
          MULTI_KUEUE_CLUSTER_PROFILE,
          MULTI_KUEUE_INCREMENTAL_DISPATCHER_CONFIG,
          MULTI_KUEUE_INCREMENTAL_DISPATCHER_RESPECT_CONFIG_ORDER,
          MULTI_KUEUE_KUBE_CONFIG_PATH_VALIDATION,
          MULTI_KUEUE_MANAGER_QUOTA_AUTOMATION,
          MULTI_KUEUE_ORCHESTRATED_PREEMPTION,
          MULTI_KUEUE_REMOTE_SPEC_SYNC,
          PARTIAL_ADMISSION,
          PRIORITY_BOOST,
          QUOTA_CHECK_STRATEGY,
          REJECT_UPDATES_TO_CQ_WITH_INVALID_ON_FLAVORS,
          REMOVE_FINALIZERS_WITH_STRICT_PATCH,
          SHORT_WORKLOAD_NAMES,
          UNADMITTED_WORKLOADS_EXPLICIT_STATUS,
          VECTORIZED_RESOURCE_REQUESTS,
          WORKLOAD_PRIORITY_CLASS_DEFAULTING,
          WORKLOAD_REQUEST_USE_MERGE_PATCH,
          WORKLOAD_VALIDATE_RESOURCES_ARE_NON_NEGATIVE,
          WORKLOAD_VALIDATION_FOR_POD_SET_METADATA);

  /**
   * Fields that can't be used yet: refused where the file gives them and they would do something.
   */
  private static final List<Missing> MISSING =
      List.of(
          new Missing(
              "pprofBindAddress", "profiles are not served", c -> !c.pprofBindAddress().isEmpty()),
          new Missing(
              "metrics.customLabels",
              "metrics take no labels of their own",
              c -> !c.metrics().customLabels().isEmpty()),
          new Missing(
              "tls.curvePreferences",
              "the groups of the key exchange can't be chosen",
              c -> !c.tls().curvePreferences().isEmpty()),
          new Missing(
              "integrations.externalFrameworks",
              "jobs owned by jobs of other frameworks are not recognised",
              c -> !c.integrations().externalFrameworks().isEmpty()),
          new Missing(
              "resources.deviceClassMappings",
              "devices of dynamic resource allocation are not counted",
              c -> !c.resources().deviceClassMappings().isEmpty()));

  private SupportedFeatures() {}

  /**
   * A field that can't be used yet.
   *
   * @param path the field
   * @param today how the operator behaves without it
   * @param wanted whether a configuration asks for more than that
   */
  private record Missing(String path, String today, Predicate<Configuration> wanted) {}

  /** Whether a gate can have this value today. */
  static boolean works(FeatureGate gate, boolean value) {
    return EITHER.contains(gate) || ALWAYS_ON.contains(gate) == value;
  }

  /** The value of a gate that nobody set: the API's default if that works, else what does. */
  static boolean valueToday(FeatureGate gate) {
    return works(gate, gate.onByDefault()) ? gate.onByDefault() : !gate.onByDefault();
  }

  /** Notes every field that the file gives and that can't be used yet. */
  static void refuseMissing(
      Configuration configuration, ObjectFieldReader file, ValidationErrors errors) {
    for (Missing missing : MISSING) {
      if (file.given(missing.path()) && missing.wanted().test(configuration)) {
        errors.add(missing.path(), "not supported yet: " + missing.today());
      }
    }
    List<String> frameworks = configuration.integrations().frameworks();
    for (int i = 0; i < frameworks.size(); i++) {
      if (!FRAMEWORKS.contains(frameworks.get(i))) {
        errors.add(
            "integrations.frameworks[" + i + "]",
            "\""
                + frameworks.get(i)
                + "\" is not supported yet; supported: "
                + String.join(", ", FRAMEWORKS));
      }
    }
  }
}
