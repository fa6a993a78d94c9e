package dev.sluice.core.model;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A node of the cluster, as far as placement needs it.
 *
 * @param name name of the node
 * @param labels the node's labels; those of a topology's levels name the node's domains
 * @param taints the node's taints
 * @param allocatable what pods can use of each resource (thousandths for cpu, whole units
 *     otherwise), {@code pods} included
 * @param usable whether the node is Ready and schedulable; other nodes have no capacity
 */
public record ClusterNode(
    String name,
    Map<String, String> labels,
    List<Taint> taints,
    SortedMap<String, Long> allocatable,
    boolean usable) {

  public ClusterNode {
    labels = MapCopies.of(labels);
    taints = List.copyOf(taints);
    allocatable = Collections.unmodifiableSortedMap(new TreeMap<>(allocatable));
  }

  /**
   * The value by which assignments and node selectors name the node: its label, which may be
   * another one than its name; without the label its name.
   */
  public String hostname() {
    return labels.getOrDefault(TopologySpec.HOSTNAME, name);
  }
}
