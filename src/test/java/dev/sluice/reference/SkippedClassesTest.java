package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineProbe;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * Random worlds with many queues in few cohorts: where heads are skipped, the engine decides the
 * same in every cycle as one that gives each of them an outcome of its own.
 */
class SkippedClassesTest {

  @Test
  void whoeverIsSkippedIsDecidedOnAsBefore() {
    play("skipped classes", false);
  }

  @Test
  void whoeverIsSkippedInATournamentIsDecidedOnAsBefore() {
    play("skipped classes with fair sharing", true);
  }

  private static void play(String what, boolean sharing) {
    AtomicLong decisions = new AtomicLong();
    Worlds.play(
        what,
        60_000,
        300,
        (seed, length) -> RandomWorld.crowded(seed, sharing).steps(length),
        (seed, steps) -> {
          EngineOptions options =
              new EngineOptions(sharing ? rules(seed) : Optional.empty(), false);
          TwinWorld world =
              new TwinWorld(
                  List.of(new EngineProbe(options), EngineProbe.withAllOutcomes(options)));
          world.play(steps);
          decisions.addAndGet(world.decisions());
        });
    assertThat(decisions).hasPositiveValue();
  }

  private static Optional<FairSharing> rules(long seed) {
    Dice dice = new Dice(seed);
    return Optional.of(
        new FairSharing(
            List.of(Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, Strategy.LESS_THAN_INITIAL_SHARE),
            dice.chance(75),
            dice.chance(75)));
  }
}
