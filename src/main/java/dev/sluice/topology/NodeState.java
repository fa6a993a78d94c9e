package dev.sluice.topology;

import dev.sluice.core.model.ClusterNode;

/**
 * The cached part of a node.
 *
 * @param node what the engine needs
 * @param readiness what the node's condition Ready says
 */
public record NodeState(ClusterNode node, Readiness readiness) {

  /** What a node's condition Ready says. */
  public enum Readiness {
    /** The condition is True. */
    READY,
    /** The condition is False or Unknown. */
    NOT_READY,
    /** There is no such condition. */
    MISSING
  }
}
