package dev.sluice.reference;

import dev.sluice.reference.RandomWorld.Pods;

/**
 * How many there are of everything in a made-up world.
 *
 * @param cohorts whether queues share quota
 * @param preempting whether they preempt
 * @param pods what is special about the pods
 * @param weighted whether they have weights
 * @param memory how often, of a hundred times, a pod set asks for memory in a preempting world
 * @param calm whether declarations rarely change
 * @param elastic whether many Workloads are slices that replace one another
 * @param gated whether many have a preemption gate that is closed, and opened later
 * @param policies whether queues have rules beyond the fields of their API
 */
record WorldSize(
    boolean cohorts,
    boolean preempting,
    Pods pods,
    boolean weighted,
    int flavors,
    int queues,
    int cohortCount,
    int workloads,
    int memory,
    boolean calm,
    boolean elastic,
    boolean gated,
    boolean policies) {

  /** The same size, where queues have rules beyond the fields of their API. */
  WorldSize withPolicies() {
    return new WorldSize(
        cohorts,
        preempting,
        pods,
        weighted,
        flavors,
        queues,
        cohortCount,
        workloads,
        memory,
        calm,
        elastic,
        gated,
        true);
  }

  static WorldSize of(Dice dice, boolean cohorts, boolean preempting, Pods pods, boolean weighted) {
    return new WorldSize(
        cohorts,
        preempting,
        pods,
        weighted,
        1 + dice.below(3),
        cohorts ? 1 + dice.below(5) : 1,
        1 + dice.below(5),
        3 + dice.below(20),
        dice.below(3) == 0 ? 40 : 0,
        dice.chanceOfHalf(),
        pods == Pods.SLICES,
        preempting && dice.below(3) == 0,
        false);
  }
}
