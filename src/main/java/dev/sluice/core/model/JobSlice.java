package dev.sluice.core.model;

/**
 * What makes a Workload a slice of an elastic job (docs/elastic-jobs.md#what-the-engine-charges).
 * Slices of different jobs never meet, whatever their annotations name.
 *
 * @param job UID of the job that controls the Workload; empty for Workloads without an owner, whose
 *     annotations alone tell which replaces which
 * @param name name of the Workload
 * @param replaces name of the slice that the Workload replaces, in the same namespace; empty if it
 *     replaces none
 */
public record JobSlice(String job, String name, String replaces) {}
