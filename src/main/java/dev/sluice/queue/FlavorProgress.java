package dev.sluice.queue;

/**
 * How far the search through the flavors came for a Workload that stays in line (scheduling
 * semantics, section 6).
 *
 * @param last by pod set and resource group, the last flavor that was tried; -1 to start at the
 *     first
 * @param quotaGeneration the queue's quota generation at that time
 * @param cycle the number of that cycle
 * @param walked for how many cycles in a row it was looked at only because flavors were left
 */
public record FlavorProgress(int[] last, long quotaGeneration, long cycle, int walked) {

  /** Whether it counts: no quota was given back or changed since, or it is of the cycle before. */
  public boolean counts(long quotaGenerationNow, long cycleNow) {
    return quotaGeneration == quotaGenerationNow || cycle >= cycleNow - 1;
  }
}
