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
 * Who may preempt for a Workload that several workers are asked to run: the one that first said
 * that it would have to, and when that led to nothing for a while, the next
 * (docs/scheduling-semantics.md#multikueue).
 */
final class PreemptionGateCoordinator {

  /** From one opening to the next. */
  static final Duration BETWEEN = Duration.ofMinutes(5);

  private PreemptionGateCoordinator() {}

  /** The plan, and the gate that is to be opened now or later, if any. */
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
    Optional<Instant> due = lastOpened(workerStates).map(opened -> opened.plus(BETWEEN));
    if (due.isPresent() && now.isBefore(due.get())) {
      return new PlacementPlan(
          placementPlan.placementActions(), soonest(placementPlan.lookAgain(), due.get()));
    }
    List<PlacementAction> placementActions = new ArrayList<>(placementPlan.placementActions());
    placementActions.add(new PlacementAction.OpenGate(next.get()));
    return new PlacementPlan(
        placementActions, soonest(placementPlan.lookAgain(), now.plus(BETWEEN)));
  }

  private static Optional<Instant> soonest(Optional<Instant> one, Instant other) {
    return Optional.of(one.filter(instant -> instant.isBefore(other)).orElse(other));
  }

  /** Since when a worker that can be asked waits for its gate to be opened. */
  private static Optional<Instant> blockedAt(@Nullable WorkerState workerState) {
    return Optional.ofNullable(workerState)
        .filter(WorkerState::connected)
        .flatMap(WorkerState::copy)
        .flatMap(Copy::gate)
        .filter(gate -> gate.openedAt().isEmpty())
        .flatMap(Gate::blockedAt);
  }

  /** When the last gate was opened, be it in a worker that is lost since. */
  private static Optional<Instant> lastOpened(Map<String, WorkerState> workerStates) {
    return workerStates.values().stream()
        .flatMap(workerState -> workerState.copy().stream())
        .flatMap(copy -> copy.gate().stream())
        .flatMap(gate -> gate.openedAt().stream())
        .max(Comparator.naturalOrder());
  }
}
