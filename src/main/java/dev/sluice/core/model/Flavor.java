package dev.sluice.core.model;

import java.util.List;
import java.util.Map;

/** A ResourceFlavor: the labels and taints of its nodes, and the tolerations it adds to pods. */
public record Flavor(
    String name,
    Map<String, String> nodeLabels,
    List<Taint> nodeTaints,
    List<Toleration> tolerations) {

  public Flavor {
    nodeLabels = Map.copyOf(nodeLabels);
    nodeTaints = List.copyOf(nodeTaints);
    tolerations = List.copyOf(tolerations);
  }
}
