package dev.sluice.checks.multikueue.placement;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.multikueue.placement.Remote.Copy;
import dev.sluice.checks.multikueue.placement.Remote.Difference;
import dev.sluice.checks.multikueue.placement.Remote.Gate;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which worker may preempt, and when the next one may. */
class GatesTest {

  private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");
  private static final Plan NOTHING = new Plan(List.of(), Optional.empty());

  private static Remote remote(boolean connected, Optional<Gate> gate) {
    return new Remote(
        connected,
        Optional.empty(),
        Optional.of(
            new Copy(
                Optional.empty(), Optional.empty(), Optional.empty(), Difference.NONE, "", gate)));
  }

  private static Remote blocked(int secondsAgo) {
    return remote(
        true, Optional.of(new Gate(Optional.of(NOW.minusSeconds(secondsAgo)), Optional.empty())));
  }

  private static Remote opened(int secondsAgo) {
    Optional<Instant> then = Optional.of(NOW.minusSeconds(secondsAgo));
    return remote(true, Optional.of(new Gate(then, then)));
  }

  private static Plan decide(Map<String, Remote> remotes) {
    return Gates.with(NOTHING, remotes, NOW);
  }

  @Test
  void theFirstThatWouldPreemptMay() {
    Plan plan = decide(Map.of("a", blocked(5), "b", blocked(9), "c", blocked(7)));
    assertThat(plan.actions()).containsExactly(new Action.OpenGate("b"));
  }

  @Test
  void ofTwoThatSaidSoTogetherTheFirstByNameMay() {
    Plan plan = decide(Map.of("b", blocked(5), "a", blocked(5)));
    assertThat(plan.actions()).containsExactly(new Action.OpenGate("a"));
  }

  @Test
  void theNextMayAfterFiveMinutesAndNotBefore() {
    assertThat(decide(Map.of("a", opened(299), "b", blocked(400))))
        .isEqualTo(new Plan(List.of(), Optional.of(NOW.plusSeconds(1))));
    assertThat(decide(Map.of("a", opened(300), "b", blocked(400))).actions())
        .containsExactly(new Action.OpenGate("b"));
  }

  @Test
  void oneThatIsOpenCountsEvenIfItsWorkerIsLost() {
    Optional<Instant> then = Optional.of(NOW.minusSeconds(10));
    Remote lost = remote(false, Optional.of(new Gate(then, then)));
    assertThat(decide(Map.of("a", lost, "b", blocked(20))).actions()).isEmpty();
  }

  @Test
  void oneThatCannotBeAskedIsNotOpened() {
    Remote lost = remote(false, Optional.of(new Gate(Optional.of(NOW), Optional.empty())));
    assertThat(decide(Map.of("a", lost))).isEqualTo(NOTHING);
  }

  @Test
  void whoDoesNotNeedToPreemptNeedsNoGate() {
    Remote waiting = remote(true, Optional.of(new Gate(Optional.empty(), Optional.empty())));
    assertThat(decide(Map.of("a", waiting, "b", remote(true, Optional.empty()))))
        .isEqualTo(NOTHING);
  }

  @Test
  void whatElseIsToBeDoneStays() {
    Plan plan =
        Gates.with(
            new Plan(List.of(new Action.Offer("c")), Optional.of(NOW.plusSeconds(3))),
            Map.of("a", blocked(1)),
            NOW);
    assertThat(plan.actions()).containsExactly(new Action.Offer("c"), new Action.OpenGate("a"));
    assertThat(plan.lookAgain()).contains(NOW.plusSeconds(3));
  }
}
