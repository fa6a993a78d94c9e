package dev.sluice.checks.provisioning;

/**
 * How ProvisioningRequests are kept.
 *
 * @param cleansUp whether requests are deleted when their Workload is evicted
 * @param replacesTemplates whether a PodTemplate of somebody else that has the name of one of a
 *     request is deleted
 * @param increments whether a slice of an elastic job requests only the pods that it has more
 */
public record RequestOptions(boolean cleansUp, boolean replacesTemplates, boolean increments) {}
