package dev.sluice.core.model;

import java.util.List;

/**
 * A Topology: how nodes are grouped into domains (docs/topology.md).
 *
 * @param name name of the Topology
 * @param levels keys of the node labels whose values name the domains, from the widest level to the
 *     narrowest; not empty
 */
public record TopologySpec(String name, List<String> levels) {

  /** The label whose values name single nodes; only the lowest level can have it. */
  public static final String HOSTNAME = "kubernetes.io/hostname";

  public TopologySpec {
    levels = List.copyOf(levels);
  }

  /**
   * The levels by whose values an assignment names a domain: a node's hostname tells the others.
   */
  public List<String> assignedLevels() {
    return endsAtNodes() ? List.of(HOSTNAME) : levels;
  }

  /** Whether the domains of the lowest level are nodes. */
  public boolean endsAtNodes() {
    return !levels.isEmpty() && levels.getLast().equals(HOSTNAME);
  }
}
