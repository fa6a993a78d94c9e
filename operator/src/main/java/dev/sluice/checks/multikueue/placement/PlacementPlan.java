package dev.sluice.checks.multikueue.placement;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The actions for one Workload.
 *
 * @param placementActions the actions, in order; when one fails, the rest is left for the next
 *     reconciliation
 * @param requeueAt when to reconcile again if nothing changes before
 */
public record PlacementPlan(List<PlacementAction> placementActions, Optional<Instant> requeueAt) {

  /** Copies the list. */
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
