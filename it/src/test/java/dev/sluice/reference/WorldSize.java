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
 * @param topologies whether pods are placed by topology
 * @param protecting whether rules protect Workloads from preemption for some time, or delay it
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
    boolean policies,
    boolean topologies,
    boolean protecting) {

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
        true,
        topologies,
        protecting);
  }

  /** Many queues with little choice, and many Workloads, in few cohorts. */
  static WorldSize crowded(Dice dice, boolean weighted) {
    return new WorldSize(
        true,
        true,
        Pods.ALL,
        weighted,
        dice.chance(80) ? 1 : 2,
        4 + dice.below(9),
        1 + dice.below(3),
        20 + dice.below(60),
        dice.chance(40) ? 60 : 0,
        true,
        false,
        dice.chance(10),
        dice.chance(10),
        false,
        dice.chance(30));
  }

  /**
   * Whether all queues are of one tree that never falls apart: which tree comes first where queues
   * share fairly is not said, and nodes are there for all trees.
   */
  boolean oneTree() {
    return topologies && weighted;
  }

  /** The same size, where pods are placed by topology. */
  WorldSize withTopologies() {
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
        policies,
        true,
        protecting);
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
        false,
        false,
        preempting && dice.chance(40));
  }
}
