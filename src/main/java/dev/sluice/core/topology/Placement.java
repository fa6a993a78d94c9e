package dev.sluice.core.topology;

import dev.sluice.core.model.FlavorRejection.TopologyShortage;
import dev.sluice.core.model.TopologyAssignment;
import org.jspecify.annotations.Nullable;

/** The result of a search for places. */
public sealed interface Placement {

  /**
   * Places for all pods.
   *
   * @param pods the places of the pods
   * @param leader the place of the leader; null without leader
   */
  record Placed(TopologyAssignment pods, @Nullable TopologyAssignment leader)
      implements Placement {}

  /** There is no room. */
  record Failed(TopologyShortage shortage) implements Placement {}
}
