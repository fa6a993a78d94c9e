package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.reference.RandomWorld.Pods;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * Random worlds with preemption: after a release the engine looks only at those whom it may help,
 * and forgets nobody whom it does help.
 */
class WakingTest {

  @Test
  void withPreemptionNobodyIsForgotten() {
    play(
        "waking with preemption",
        (seed, length) -> new RandomWorld(seed, true, true, Pods.ALL).steps(length),
        seed -> Optional.empty());
  }

  @Test
  void withFairSharingNobodyIsForgotten() {
    play(
        "waking with fair sharing",
        (seed, length) -> RandomWorld.weighted(seed, Pods.ALL).steps(length),
        seed -> Optional.of(sharing(seed)));
  }

  @Test
  void whoeverIsNoLongerProtectedIsNotForgotten() {
    play(
        "waking under pressure",
        (seed, length) -> new PressedWorld(seed, false).stepsAndMore(length),
        seed -> Optional.empty());
  }

  @Test
  void whoeverIsNoLongerProtectedFromSharingIsNotForgotten() {
    play(
        "waking with fair sharing under pressure",
        (seed, length) -> new PressedWorld(seed, true).stepsAndMore(length),
        seed -> Optional.of(sharing(seed)));
  }

  private static FairSharing sharing(long seed) {
    Dice dice = new Dice(seed);
    return new FairSharing(
        List.of(Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, Strategy.LESS_THAN_INITIAL_SHARE),
        dice.chance(75),
        dice.chance(75));
  }

  private static void play(
      String what,
      BiFunction<Long, Integer, List<Step>> make,
      Function<Long, Optional<FairSharing>> sharing) {
    AtomicLong decisions = new AtomicLong();
    AtomicLong judged = new AtomicLong();
    Worlds.play(
        what,
        20_000,
        make,
        (seed, steps) -> {
          WakingWorld world = new WakingWorld(new EngineOptions(sharing.apply(seed), false));
          world.play(steps);
          decisions.addAndGet(world.decisions());
          judged.addAndGet(world.judged());
        });
    System.out.printf("property: decisions=%s judged=%s%n", decisions, judged);
    assertThat(judged).hasPositiveValue();
    assertThat(decisions).hasPositiveValue();
  }
}
