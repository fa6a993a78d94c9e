package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.reference.RandomWorld.Pods;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongFunction;
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
        seed -> new RandomWorld(seed, true, true, Pods.ALL),
        seed -> Optional.empty());
  }

  @Test
  void withFairSharingNobodyIsForgotten() {
    play(
        "waking with fair sharing",
        seed -> RandomWorld.weighted(seed, Pods.ALL),
        seed -> {
          Dice dice = new Dice(seed);
          return Optional.of(
              new FairSharing(
                  List.of(
                      Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, Strategy.LESS_THAN_INITIAL_SHARE),
                  dice.chance(75),
                  dice.chance(75)));
        });
  }

  private static void play(
      String what, LongFunction<RandomWorld> make, Function<Long, Optional<FairSharing>> sharing) {
    AtomicLong decisions = new AtomicLong();
    AtomicLong judged = new AtomicLong();
    Worlds.play(
        what,
        20_000,
        (seed, length) -> make.apply(seed).steps(length),
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
