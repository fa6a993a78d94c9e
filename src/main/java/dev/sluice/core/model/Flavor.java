package dev.sluice.core.model;

import java.util.List;
import java.util.Map;

/**
 * A ResourceFlavor: the labels and taints of its nodes, and the tolerations it adds to pods.
 *
 * @param topology name of the Topology of its nodes; empty without topology
 */
public record Flavor(
    String name,
    Map<String, String> nodeLabels,
    List<Taint> nodeTaints,
    List<Toleration> tolerations,
    String topology) {

  public Flavor {
    nodeLabels = Map.copyOf(nodeLabels);
    nodeTaints = List.copyOf(nodeTaints);
    tolerations = List.copyOf(tolerations);
  }

  /** A flavor without topology. */
  public Flavor(
      String name,
      Map<String, String> nodeLabels,
      List<Taint> nodeTaints,
      List<Toleration> tolerations) {
    this(name, nodeLabels, nodeTaints, tolerations, "");
  }
}
