package dev.sluice.topology;

/** Labels of nodes that the rules of topologies name. */
final class TopologyLabels {

  /** The label that is unique to a node. */
  static final String HOSTNAME = "kubernetes.io/hostname";

  private TopologyLabels() {}
}
