package dev.sluice.core.queue;

import dev.sluice.core.model.ClusterQueueSpec.ScanProgress;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The progress of the flavor search of a Workload that stays active
 * (docs/scheduling-semantics.md#flavor-assignment).
 *
 * @param last the index of the last flavor that was tried, by pod set and resource group; -1 to
 *     start at the first flavor
 * @param queue the queue with its spec at that time; null if that spec is gone
 * @param quotaGeneration the queue's quota generation at that time
 * @param cycle the number of the cycle that recorded the progress
 * @param began the number of the cycle in which the search started at the first flavor
 * @param searchCycles the number of consecutive cycles that evaluated the Workload only because
 *     flavors were left
 */
public record FlavorProgress(
    int[] last,
    @Nullable ClusterQueueCache queue,
    long quotaGeneration,
    long cycle,
    long began,
    int searchCycles) {

  /**
   * The same progress, valid until quota changes: for a Workload that the next cycles don't
   * evaluate because the result would be the same.
   */
  public FlavorProgress untilQuotaChanges() {
    return new FlavorProgress(last, queue, quotaGeneration, Long.MAX_VALUE, began, searchCycles);
  }

  /** Whether the progress is valid until quota changes. */
  boolean waitsForQuota() {
    return cycle == Long.MAX_VALUE;
  }

  /**
   * The same progress of a Workload that another one comes before from now on: the next cycles
   * evaluate that one, so that this progress is no longer the one of the cycle before.
   *
   * @param lastCycle the number of the last cycle
   */
  FlavorProgress overtaken(long lastCycle) {
    return waitsForQuota()
        ? new FlavorProgress(last, queue, quotaGeneration, lastCycle, began, searchCycles)
        : this;
  }

  /**
   * A search that tried all flavors as often as allowed, without success. Another search has the
   * same result as long as no reservation in the tree changes.
   *
   * @param cycle the number of the cycle that recorded the progress
   */
  public static FlavorProgress withoutSuccess(ClusterQueueCache queue, long cycle) {
    return new FlavorProgress(
        new int[0], queue, queue.quotaGeneration(), cycle, cycle, Integer.MAX_VALUE);
  }

  /** Whether the search tried all flavors without success and must not start again. */
  public boolean isWithoutSuccess() {
    return last.length == 0;
  }

  /**
   * Whether the progress is still valid: the queue has the same spec, and either its quota
   * generation is unchanged or the progress is from the previous cycle and the queue preserves it
   * then.
   */
  public boolean isValid(ClusterQueueCache current, long currentCycle) {
    return !isWithoutSuccess()
        && queue == current
        && (quotaGeneration == current.quotaGeneration()
            || (cycle >= currentCycle - 1
                && current.spec().fungibility().scanProgress() == ScanProgress.PRESERVED));
  }

  /**
   * The progress as a value.
   *
   * @param current the queue with its spec of now; null if the queue was deleted
   */
  PendingQueueExport.ProgressExport export(@Nullable ClusterQueueCache current) {
    return new PendingQueueExport.ProgressExport(
        Arrays.stream(last).boxed().toList(),
        queue != null && queue == current,
        quotaGeneration,
        cycle,
        began,
        searchCycles);
  }

  /** The progress that a value stands for, in a queue with its spec of now. */
  static FlavorProgress restored(
      PendingQueueExport.ProgressExport exported, @Nullable ClusterQueueCache current) {
    return new FlavorProgress(
        exported.last().stream().mapToInt(Integer::intValue).toArray(),
        exported.current() ? current : null,
        exported.quotaGeneration(),
        exported.cycle(),
        exported.began(),
        exported.searchCycles());
  }
}
