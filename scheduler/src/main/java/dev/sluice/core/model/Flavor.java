package dev.sluice.core.model;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A ResourceFlavor: the labels and taints of its nodes, and the tolerations it adds to pods.
 *
 * @param topology name of the Topology of its nodes; empty without topology
 * @param pace how fast its nodes are, and how often they are taken away; empty: as fast as any, and
 *     never
 */
public record Flavor(
    String name,
    Map<String, String> nodeLabels,
    List<Taint> nodeTaints,
    List<Toleration> tolerations,
    String topology,
    Optional<Pace> pace) {

  public Flavor {
    nodeLabels = Map.copyOf(nodeLabels);
    nodeTaints = List.copyOf(nodeTaints);
    tolerations = List.copyOf(tolerations);
  }

  /**
   * How fast the nodes of a flavor are, and how often they are taken away.
   *
   * @param interruptionsPerHour how many interruptions of a Workload are expected in an hour
   * @param speed how much work is done in the time in which speed 1 does one; above 0
   */
  public record Pace(BigDecimal interruptionsPerHour, BigDecimal speed) {

    /** Speed 1, without interruptions. */
    public static final Pace USUAL = new Pace(BigDecimal.ZERO, BigDecimal.ONE);
  }

  /** A flavor whose nodes are as fast as any, and are never taken away. */
  public Flavor(
      String name,
      Map<String, String> nodeLabels,
      List<Taint> nodeTaints,
      List<Toleration> tolerations,
      String topology) {
    this(name, nodeLabels, nodeTaints, tolerations, topology, Optional.empty());
  }

  /** A flavor without topology. */
  public Flavor(
      String name,
      Map<String, String> nodeLabels,
      List<Taint> nodeTaints,
      List<Toleration> tolerations) {
    this(name, nodeLabels, nodeTaints, tolerations, "");
  }

  /** The same flavor with another pace. */
  public Flavor withPace(Optional<Pace> other) {
    return new Flavor(name, nodeLabels, nodeTaints, tolerations, topology, other);
  }
}
