package dev.sluice.core.model;

/**
 * A report of the engine on request: why a Workload is pending. A late or lost report does no harm.
 *
 * @param version the resourceVersion of the Workload that the explanation is based on
 */
public record PendingExplanation(WorkloadId id, long version, Explanation explanation) {}
