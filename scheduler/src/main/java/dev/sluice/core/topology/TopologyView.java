package dev.sluice.core.topology;

import dev.sluice.core.model.WorkloadId;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What the nodes of a flavor have, and what is used of them, for explanations.
 *
 * @param flavor name of the ResourceFlavor
 * @param topology name of the Topology
 * @param levels the label keys of the levels, widest first
 * @param leaves the domains of the lowest level, ordered by the values of all levels
 */
public record TopologyView(String flavor, String topology, List<String> levels, List<Leaf> leaves) {

  /**
   * A domain of the lowest level.
   *
   * @param values the value of each level
   * @param nodes the number of usable nodes
   * @param amounts what it has, by resource
   * @param holders the Workloads with pods there, with flavors that have the same nodes included
   */
  public record Leaf(
      List<String> values, int nodes, SortedMap<String, Amounts> amounts, List<HeldPods> holders) {}

  /**
   * Amounts of one resource.
   *
   * @param allocatable what the nodes have
   * @param usedByOthers what pods use that aren't placed by topology
   * @param usedByWorkloads what Workloads with quota use
   */
  public record Amounts(long allocatable, long usedByOthers, long usedByWorkloads) {

    /** What is free; not negative. */
    public long free() {
      return Math.max(0, allocatable - usedByOthers - usedByWorkloads);
    }
  }

  /**
   * What several domains of the lowest level have together, by resource. What is overused in one of
   * them is not free in another one.
   */
  public static SortedMap<String, Amounts> sum(Collection<Leaf> leaves) {
    SortedMap<String, Amounts> sums = new TreeMap<>();
    for (Leaf leaf : leaves) {
      leaf.amounts()
          .forEach(
              (resource, amounts) ->
                  sums.merge(
                      resource,
                      new Amounts(
                          amounts.allocatable(),
                          amounts.usedByOthers(),
                          amounts.allocatable() - amounts.usedByOthers() - amounts.free()),
                      (one, two) ->
                          new Amounts(
                              one.allocatable() + two.allocatable(),
                              one.usedByOthers() + two.usedByOthers(),
                              one.usedByWorkloads() + two.usedByWorkloads())));
    }
    return sums;
  }

  /** Pods of a Workload in a domain. */
  public record HeldPods(WorkloadId id, long pods) {}
}
