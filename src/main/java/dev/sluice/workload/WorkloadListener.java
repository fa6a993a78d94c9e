package dev.sluice.workload;

import org.jspecify.annotations.Nullable;

/** Is told of every change the reader sees, in the order of the watch, after the store has it. */
public interface WorkloadListener {

  /**
   * A Workload appeared, changed or went.
   *
   * @param before what was known of it; null when it is new
   * @param after what is known now; null when it is gone
   */
  void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after);

  /** The first listing is complete: the store holds all there is. Called once per reader. */
  default void synced() {}
}
