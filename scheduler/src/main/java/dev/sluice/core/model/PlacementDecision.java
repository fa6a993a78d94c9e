package dev.sluice.core.model;

import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.FlavorRejection.TopologyShortage;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A decision of the second pass, about a Workload that has quota. */
public sealed interface PlacementDecision extends Decision {

  /** The assignments that the decision was based on. */
  List<PodSetAssignment> before();

  /** Names of the lost nodes that the decision was based on. */
  Set<String> lostNodes();

  /**
   * Give the pod sets these places.
   *
   * @param podSets the assignments with their places
   */
  record Place(
      WorkloadId id,
      List<PodSetAssignment> before,
      Set<String> lostNodes,
      List<PodSetAssignment> podSets)
      implements PlacementDecision {
    public Place {
      before = List.copyOf(before);
      lostNodes = Set.copyOf(lostNodes);
      podSets = List.copyOf(podSets);
    }
  }

  /**
   * Say that there are no places.
   *
   * @param podSet the pod set without places
   * @param shortage why there is no room; empty if the domains of the places that stay don't exist
   *     any more
   * @param evicts whether the Workload is to be evicted; otherwise the engine tries again
   */
  record GiveUp(
      WorkloadId id,
      List<PodSetAssignment> before,
      Set<String> lostNodes,
      String podSet,
      Optional<TopologyShortage> shortage,
      boolean evicts)
      implements PlacementDecision {
    public GiveUp {
      before = List.copyOf(before);
      lostNodes = Set.copyOf(lostNodes);
    }
  }
}
