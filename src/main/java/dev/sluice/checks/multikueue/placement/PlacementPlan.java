package dev.sluice.checks.multikueue.placement;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What to do about one Workload.
 *
 * @param actions in this order; when one fails, the rest is left for the next look
 * @param lookAgain when to look again, if nothing else changes before
 */
public record PlacementPlan(List<PlacementAction> placementActions, Optional<Instant> lookAgain) {

  /** With a copy of the list. */
  public PlacementPlan {
    placementActions = List.copyOf(placementActions);
  }

  static PlacementPlan nothing() {
    return new PlacementPlan(List.of(), Optional.empty());
  }

  static PlacementPlan of(PlacementAction placementAction) {
    return new PlacementPlan(List.of(placementAction), Optional.empty());
  }
}
