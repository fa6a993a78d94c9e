package dev.sluice.queues.capacity;

import dev.sluice.core.model.ClusterNode;
import java.util.Collection;

/** The nodes of the cluster, read while they are used. */
public interface CapacityNodes {

  /** Begins to read the nodes, or ends it; returns at once. */
  void use(boolean used);

  /** Whether all nodes are known. */
  boolean isListed();

  /** The nodes, usable or not. */
  Collection<ClusterNode> all();
}
