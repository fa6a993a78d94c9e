package dev.sluice.workload.record;

import org.jspecify.annotations.Nullable;

/**
 * Listener for changes of Workloads, called in the order of the watch after the cache was updated.
 */
public interface WorkloadListener {

  /**
   * Called when a Workload was created, changed or deleted.
   *
   * @param before the previous version; null when the Workload is new
   * @param after the current version; null when the Workload was deleted
   */
  void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after);

  /** Called once, when the first listing is complete and the cache contains all Workloads. */
  default void synced() {}
}
