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
 * Random worlds that are left to themselves: whoever gets quota keeps it, whoever is evicted waits
 * again at once, and nothing else happens. Where everybody may be preempted a number of times only,
 * preemptions end, whatever the policies (docs/preemption.md#preemption-that-goes-on-for-ever).
 */
class TerminationTest {

  @Test
  void preemptionByPriorityEnds() {
    play("termination", Optional.empty());
  }

  @Test
  void preemptionBySharesEnds() {
    play(
        "termination with fair sharing",
        Optional.of(
            List.of(Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, Strategy.LESS_THAN_INITIAL_SHARE)));
  }

  private static void play(String what, Optional<List<Strategy>> sharing) {
    AtomicLong preemptions = new AtomicLong();
    Worlds.play(
        what,
        40_000,
        40,
        (seed, length) -> new PressedWorld(seed, sharing.isPresent()).steps(),
        (seed, steps) -> {
          TwinWorld world = new TwinWorld(List.of(new EngineProbe(options(sharing))));
          // Within the hour that passes, times of short rules are over once.
          int most = 2 * PressedWorld.MOST * steps.size();
          preemptions.addAndGet(world.leaveAlone(steps, most));
        });
    System.out.printf("property: preemptions=%s%n", preemptions);
    assertThat(preemptions).hasPositiveValue();
  }

  private static EngineOptions options(Optional<List<Strategy>> sharing) {
    return new EngineOptions(
        sharing.map(strategies -> new FairSharing(strategies, false, false)), false);
  }
}
