package dev.sluice.topology;

import dev.sluice.core.model.ClusterNode;
import java.time.Instant;

/**
 * The cached part of a node.
 *
 * @param node what the engine needs
 * @param readiness what the node's condition Ready says
 * @param since the time since which the node isn't ready; {@link Instant#EPOCH} if it is ready, or
 *     the time is not known
 */
public record NodeState(ClusterNode node, Readiness readiness, Instant since) {

  private static final String UNREACHABLE = "node.kubernetes.io/unreachable";

  /** What a node's condition Ready says. */
  public enum Readiness {
    /** The condition is True. */
    READY,
    /** The condition is False or Unknown. */
    NOT_READY,
    /** There is no such condition. */
    MISSING
  }

  /** A node that is ready, or of which it is not known since when it isn't. */
  public NodeState(ClusterNode node, Readiness readiness) {
    this(node, readiness, Instant.EPOCH);
  }

  /** Whether the node doesn't answer: what runs there, nobody can tell. */
  public boolean isUnreachable() {
    return node.taints().stream().anyMatch(taint -> taint.key().equals(UNREACHABLE));
  }
}
