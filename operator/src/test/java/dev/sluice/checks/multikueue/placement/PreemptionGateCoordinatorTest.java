package dev.sluice.checks.multikueue.placement;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.multikueue.placement.WorkerState.Copy;
import dev.sluice.checks.multikueue.placement.WorkerState.Difference;
import dev.sluice.checks.multikueue.placement.WorkerState.Gate;
import dev.sluice.checks.multikueue.placement.WorkloadPlacement.PlacementPlan;
import dev.sluice.checks.multikueue.placement.WorkloadPlacement.PreemptionGateCoordinator;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which worker may preempt, and when the next one may. */
class PreemptionGateCoordinatorTest {

  private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");
  private static final PlacementPlan NOTHING = new PlacementPlan(List.of(), Optional.empty());

  private static WorkerState remote(boolean connected, Optional<Gate> gate) {
    return new WorkerState(
        connected,
        Optional.empty(),
        Optional.of(
            new Copy(
                Optional.empty(), Optional.empty(), Optional.empty(), Difference.NONE, "", gate)));
  }

  private static WorkerState blocked(int secondsAgo) {
    return remote(
        true, Optional.of(new Gate(Optional.of(NOW.minusSeconds(secondsAgo)), Optional.empty())));
  }

  private static WorkerState opened(int secondsAgo) {
    Optional<Instant> then = Optional.of(NOW.minusSeconds(secondsAgo));
    return remote(true, Optional.of(new Gate(then, then)));
  }

  private static PlacementPlan decide(Map<String, WorkerState> workerStates) {
    return PreemptionGateCoordinator.with(NOTHING, workerStates, NOW);
  }

  @Test
  void theFirstThatWouldPreemptMay() {
    PlacementPlan placementPlan = decide(Map.of("a", blocked(5), "b", blocked(9), "c", blocked(7)));
    assertThat(placementPlan.placementActions()).containsExactly(new PlacementAction.OpenGate("b"));
  }

  @Test
  void ofTwoThatSaidSoTogetherTheFirstByNameMay() {
    PlacementPlan placementPlan = decide(Map.of("b", blocked(5), "a", blocked(5)));
    assertThat(placementPlan.placementActions()).containsExactly(new PlacementAction.OpenGate("a"));
  }

  @Test
  void theNextMayAfterFiveMinutesAndNotBefore() {
    assertThat(decide(Map.of("a", opened(299), "b", blocked(400))))
        .isEqualTo(new PlacementPlan(List.of(), Optional.of(NOW.plusSeconds(1))));
    assertThat(decide(Map.of("a", opened(300), "b", blocked(400))).placementActions())
        .containsExactly(new PlacementAction.OpenGate("b"));
  }

  @Test
  void oneThatIsOpenCountsEvenIfItsWorkerIsLost() {
    Optional<Instant> then = Optional.of(NOW.minusSeconds(10));
    WorkerState lost = remote(false, Optional.of(new Gate(then, then)));
    assertThat(decide(Map.of("a", lost, "b", blocked(20))).placementActions()).isEmpty();
  }

  @Test
  void oneThatCannotBeAskedIsNotOpened() {
    WorkerState lost = remote(false, Optional.of(new Gate(Optional.of(NOW), Optional.empty())));
    assertThat(decide(Map.of("a", lost))).isEqualTo(NOTHING);
  }

  @Test
  void whoDoesNotNeedToPreemptNeedsNoGate() {
    WorkerState waiting = remote(true, Optional.of(new Gate(Optional.empty(), Optional.empty())));
    assertThat(decide(Map.of("a", waiting, "b", remote(true, Optional.empty()))))
        .isEqualTo(NOTHING);
  }

  @Test
  void whatElseIsToBeDoneStays() {
    PlacementPlan placementPlan =
        PreemptionGateCoordinator.with(
            new PlacementPlan(
                List.of(new PlacementAction.Offer("c")), Optional.of(NOW.plusSeconds(3))),
            Map.of("a", blocked(1)),
            NOW);
    assertThat(placementPlan.placementActions())
        .containsExactly(new PlacementAction.Offer("c"), new PlacementAction.OpenGate("a"));
    assertThat(placementPlan.requeueAt()).contains(NOW.plusSeconds(3));
  }
}
