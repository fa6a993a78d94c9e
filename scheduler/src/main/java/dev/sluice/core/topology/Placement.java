package dev.sluice.core.topology;

import dev.sluice.core.model.FlavorRejection.Crowding;
import dev.sluice.core.model.FlavorRejection.TopologyShortage;
import dev.sluice.core.model.TopologyAssignment;
import java.util.List;
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

  /**
   * There is no room.
   *
   * @param crowding the rules that keep the pods from domains with room; empty without
   */
  record Failed(TopologyShortage shortage, List<Crowding> crowding) implements Placement {

    public Failed {
      crowding = List.copyOf(crowding);
    }

    /** There is no room, whatever other groups there are. */
    Failed(TopologyShortage shortage) {
      this(shortage, List.of());
    }
  }
}
