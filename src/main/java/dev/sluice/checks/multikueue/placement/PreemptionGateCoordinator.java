package dev.sluice.checks.multikueue.placement;

import dev.sluice.checks.multikueue.placement.WorkerState.Copy;
import dev.sluice.checks.multikueue.placement.WorkerState.Gate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides which of several nominated workers may preempt for a Workload: first the worker that
 * reported first that it would have to preempt; if that led to no admission for a while, the next
 * one (docs/scheduling-semantics.md#multikueue).
 */
final class PreemptionGateCoordinator {

  /** The time between two openings of gates. */
  static final Duration OPENING_INTERVAL = Duration.ofMinutes(5);

  private PreemptionGateCoordinator() {}

  /** The plan, extended by the gate that must be opened now or later, if any. */
  static PlacementPlan with(
      PlacementPlan placementPlan, Map<String, WorkerState> workerStates, Instant now) {
    Optional<String> next =
        workerStates.keySet().stream()
            .filter(cluster -> blockedAt(workerStates.get(cluster)).isPresent())
            .min(
                Comparator.comparing(
                        (String cluster) ->
                            blockedAt(workerStates.get(cluster)).orElse(Instant.MAX))
                    .thenComparing(Comparator.naturalOrder()));
    if (next.isEmpty()) {
      return placementPlan;
    }
    Optional<Instant> due = lastOpened(workerStates).map(opened -> opened.plus(OPENING_INTERVAL));
    if (due.isPresent() && now.isBefore(due.get())) {
      return new PlacementPlan(
          placementPlan.placementActions(), soonest(placementPlan.requeueAt(), due.get()));
    }
    List<PlacementAction> placementActions = new ArrayList<>(placementPlan.placementActions());
    placementActions.add(new PlacementAction.OpenGate(next.get()));
    return new PlacementPlan(
        placementActions, soonest(placementPlan.requeueAt(), now.plus(OPENING_INTERVAL)));
  }

  private static Optional<Instant> soonest(Optional<Instant> one, Instant other) {
    return Optional.of(one.filter(instant -> instant.isBefore(other)).orElse(other));
  }

  /** Since when a reachable worker waits for its gate to open. */
  private static Optional<Instant> blockedAt(@Nullable WorkerState workerState) {
    return Optional.ofNullable(workerState)
        .filter(WorkerState::connected)
        .flatMap(WorkerState::copy)
        .flatMap(Copy::gate)
        .filter(gate -> gate.openedAt().isEmpty())
        .flatMap(Gate::blockedAt);
  }

  /** When the last gate was opened, including gates of workers that were lost since. */
  private static Optional<Instant> lastOpened(Map<String, WorkerState> workerStates) {
    return workerStates.values().stream()
        .flatMap(workerState -> workerState.copy().stream())
        .flatMap(copy -> copy.gate().stream())
        .flatMap(gate -> gate.openedAt().stream())
        .max(Comparator.naturalOrder());
  }
}
