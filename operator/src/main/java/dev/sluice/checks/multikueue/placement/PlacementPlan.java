package dev.sluice.checks.multikueue.placement;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

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

  /** The workers that it offers the Workload to. */
  public List<String> offeredTo() {
    return placementActions.stream()
        .flatMap(
            each ->
                each instanceof PlacementAction.Offer(String cluster)
                    ? Stream.of(cluster)
                    : Stream.empty())
        .toList();
  }

  static PlacementPlan nothing() {
    return new PlacementPlan(List.of(), Optional.empty());
  }

  static PlacementPlan of(PlacementAction placementAction) {
    return new PlacementPlan(List.of(placementAction), Optional.empty());
  }
}
