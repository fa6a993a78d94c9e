/**
 * The admission check {@code kueue.x-k8s.io/provisioning-request}: nodes are requested from a
 * cluster autoscaler before a Workload is admitted. Input: Workloads, AdmissionChecks,
 * ProvisioningRequestConfigs, and the status of ProvisioningRequests. Output: ProvisioningRequests
 * and their PodTemplates, states of checks, and conditions of AdmissionChecks.
 */
@NullMarked
package dev.sluice.checks.provisioning;

import org.jspecify.annotations.NullMarked;
