package dev.sluice.api.v1beta2;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Which pod sets share one entry of a ProvisioningRequest. The constants are named as in the API.
 */
public enum PodSetMergePolicy {
  /** {@code IdenticalPodTemplates}: those with equal templates. */
  @JsonProperty("IdenticalPodTemplates")
  IDENTICAL_POD_TEMPLATES,
  /**
   * {@code IdenticalWorkloadSchedulingRequirements}: those whose templates are equal in what
   * scheduling looks at.
   */
  @JsonProperty("IdenticalWorkloadSchedulingRequirements")
  IDENTICAL_WORKLOAD_SCHEDULING_REQUIREMENTS
}
