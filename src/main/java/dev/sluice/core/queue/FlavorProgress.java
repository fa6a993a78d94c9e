package dev.sluice.core.queue;

/**
 * How far the search through the flavors came for a Workload that stays in line
 * (docs/scheduling-semantics.md#flavor-assignment).
 *
 * @param last by pod set and resource group, the last flavor that was tried; -1 to start at the
 *     first
 * @param queue the queue, as it was declared then
 * @param quotaGeneration the queue's quota generation at that time
 * @param cycle the number of that cycle
 * @param began the number of the cycle in which the search began at the first flavor
 * @param walked for how many cycles in a row it was looked at only because flavors were left
 */
public record FlavorProgress(
    int[] last, ClusterQueueCache queue, long quotaGeneration, long cycle, long began, int walked) {

  /** The same for one that is not looked at for some cycles, in which the same would come of it. */
  public FlavorProgress atRest() {
    return new FlavorProgress(last, queue, quotaGeneration, Long.MAX_VALUE, began, walked);
  }

  /**
   * Nothing to go on with: it went through all flavors as often as it may, in vain. As long as
   * nobody's holding in its tree changes, going through them again would be in vain, too.
   *
   * @param cycle the number of the cycle in which that came out
   */
  public static FlavorProgress withoutSuccess(ClusterQueueCache queue, long cycle) {
    return new FlavorProgress(
        new int[0], queue, queue.quotaGeneration(), cycle, cycle, Integer.MAX_VALUE);
  }

  /** Whether it went through all flavors in vain, and is not to begin again. */
  public boolean isWithoutSuccess() {
    return last.length == 0;
  }

  /**
   * Whether it counts: the queue has the same flavors, and no quota was given back or changed since
   * or it is of the cycle before.
   */
  public boolean counts(ClusterQueueCache now, long cycleNow) {
    return !isWithoutSuccess()
        && queue == now
        && (quotaGeneration == now.quotaGeneration() || cycle >= cycleNow - 1);
  }
}
