package dev.sluice.core.waiting;

import dev.sluice.core.queue.ClusterQueueCache;

/**
 * An upper bound on the amount of a pair that a Workload could get by preemption, for the current
 * usage of one tree. Every use needs a new instance. An inadmissible class is evaluated again only
 * if the bound allows one of its missing amounts; therefore the bound must never be too low. A
 * bound that is too high costs an evaluation in vain.
 */
@FunctionalInterface
public interface PreemptionUpperBound {

  /**
   * Whether a Workload may get this amount, as far as the bound shows.
   *
   * @param queue the Workload's queue
   * @param pair the number of the pair
   * @param amount the amount of the pair that the Workload misses
   * @param priority the Workload's effective priority
   * @param queuedAtMicros the time since which the Workload is queued
   */
  boolean allows(
      ClusterQueueCache queue, int pair, long amount, long priority, long queuedAtMicros);
}
