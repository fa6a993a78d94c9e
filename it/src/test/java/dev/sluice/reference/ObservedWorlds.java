package dev.sluice.reference;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineProbe;
import dev.sluice.core.engine.SchedulerThread.EngineListener;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import java.util.List;
import java.util.Optional;

/** Random worlds whose engine has a listener, for tests outside of this room. */
public final class ObservedWorlds {

  private ObservedWorlds() {}

  /** The options of the engine in the world of a seed. */
  public static EngineOptions options(long seed) {
    return seed % 3 == 1
        ? new EngineOptions(
            Optional.of(
                new FairSharing(List.of(Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE), true, true)),
            false)
        : EngineOptions.DEFAULT;
  }

  /**
   * Plays so many steps of the world of a seed; returns how many decisions were made. The kind of
   * world follows from the seed: with fair sharing, with topologies, with many queues.
   */
  public static int play(long seed, int steps, EngineListener listener) {
    RandomWorld world =
        switch ((int) (seed % 3)) {
          case 1 -> RandomWorld.weighted(seed, RandomWorld.Pods.ALL);
          case 2 -> RandomWorld.placed(seed, true, RandomWorld.Pods.ALL, false);
          default -> RandomWorld.crowded(seed, false);
        };
    TwinWorld played = new TwinWorld(List.of(EngineProbe.observed(options(seed), listener)));
    played.play(world.steps(steps));
    return played.decisions();
  }
}
