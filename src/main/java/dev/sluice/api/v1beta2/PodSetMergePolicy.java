package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Which pod sets share one entry of a provisioning request. The constants are named as in the API.
 */
public enum PodSetMergePolicy {
  /** {@code IdenticalPodTemplates}. */
  @JsonProperty("IdenticalPodTemplates")
  IDENTICAL_POD_TEMPLATES,
  /** {@code IdenticalWorkloadSchedulingRequirements}. */
  @JsonProperty("IdenticalWorkloadSchedulingRequirements")
  IDENTICAL_WORKLOAD_SCHEDULING_REQUIREMENTS
}
