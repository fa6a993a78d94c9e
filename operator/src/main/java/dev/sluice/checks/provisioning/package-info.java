/**
 * The admission checks {@code kueue.x-k8s.io/provisioning-request} and {@code
 * sluice.dev/node-capacity}: nodes are requested from an autoscaler before a Workload is admitted.
 * Input: Workloads, AdmissionChecks, ProvisioningRequestConfigs, and the status of
 * ProvisioningRequests, CapacityBuffers and placeholder pods. Output: these objects and their
 * PodTemplates, states of checks, and conditions of AdmissionChecks.
 */
@NullMarked
package dev.sluice.checks.provisioning;

import org.jspecify.annotations.NullMarked;
