package dev.sluice.lab.audit;

/**
 * History of one queued Job.
 *
 * @param name {@code namespace/name}
 * @param starts how often it was unsuspended
 * @param evictions how often its Workload was evicted
 * @param pods how many pods were created for it
 * @param succeeded how many of the pods succeeded
 * @param end {@code Complete}, {@code Failed}, {@code Deleted}, or empty while it has not ended
 */
public record JobRecord(
    String name, int starts, int evictions, int pods, int succeeded, String end) {}
