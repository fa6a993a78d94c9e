package dev.sluice.checks.provisioning;

/**
 * How ProvisioningRequests are kept.
 *
 * @param cleansUp whether requests are deleted when their Workload is evicted
 * @param replacesTemplates whether a PodTemplate of somebody else that has the name of one of a
 *     request is deleted
 */
public record RequestOptions(boolean cleansUp, boolean replacesTemplates) {}
