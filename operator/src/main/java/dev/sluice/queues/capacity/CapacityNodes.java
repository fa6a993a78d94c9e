package dev.sluice.queues.capacity;

import dev.sluice.core.model.ClusterNode;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/** The nodes of the cluster, read while they are used. */
public interface CapacityNodes {

  /** Begins to read the nodes, or ends it; returns at once. */
  void use(boolean used);

  /** Whether all nodes are known. */
  boolean isListed();

  /** The nodes, usable or not. */
  Collection<ClusterNode> all();

  /** Whether pods are counted, so that those that no quota counts can be told. */
  boolean countsPods();

  /**
   * What pods request that no quota counts, by node and resource, each pod as one of {@code pods}
   * included; empty while not all pods are known.
   */
  Optional<Map<String, SortedMap<String, Long>>> foreignRequests();
}
