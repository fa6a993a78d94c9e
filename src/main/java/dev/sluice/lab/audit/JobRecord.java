package dev.sluice.lab.audit;

/**
 * What became of one Job that was queued.
 *
 * @param name {@code namespace/name}
 * @param starts how often it was unsuspended
 * @param evictions how often its Workload was evicted
 * @param pods how many pods were made for it
 * @param succeeded how many of them succeeded
 * @param end {@code Complete}, {@code Failed}, {@code Deleted}, or empty while it hasn't ended
 */
public record JobRecord(
    String name, int starts, int evictions, int pods, int succeeded, String end) {}
