package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineProbe;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * Random worlds that are left to themselves: whoever gets quota keeps it, whoever is evicted waits
 * again at once, and nothing else happens. Preemptions end, whatever the policies
 * (docs/preemption.md#preemption-that-goes-on-for-ever).
 */
class TerminationTest {

  private static final Optional<List<Strategy>> BOTH =
      Optional.of(
          List.of(Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, Strategy.LESS_THAN_INITIAL_SHARE));

  private static final int WORLDS = Integer.getInteger("sluice.termination.worlds", 1_000);

  /** More preemptions than any of these worlds takes to come to rest. */
  private static final int MANY = 300;

  @Test
  void preemptionByPriorityEnds() {
    play("termination", Optional.empty());
  }

  @Test
  void preemptionBySharesEnds() {
    play("termination with fair sharing", BOTH);
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

  /** Worlds in which nothing limits preemptions but how often a Workload preempts the same one. */
  @Test
  void preemptionEndsWhereNothingElseLimitsIt() {
    assertThat(endless(Optional.empty(), OrderingRules.DEFAULT)).isZero();
    assertThat(endless(BOTH, OrderingRules.DEFAULT)).isZero();
  }

  /** What docs/preemption.md tells of the same worlds without that limit. */
  @Test
  void preemptionGoesOnForEverWhereNothingLimitsIt() {
    PreemptionLimit none = new PreemptionLimit(Integer.MAX_VALUE, Duration.ofHours(1));
    for (Optional<List<Strategy>> sharing : List.of(Optional.<List<Strategy>>empty(), BOTH)) {
      int usual = endless(sharing, OrderingRules.DEFAULT.withRepeats(none));
      int preemptorsFirst = endless(sharing, new OrderingRules(true, true, true).withRepeats(none));
      System.out.printf(
          "property: endless worlds of %s, sharing=%s: %s, with preemptors first %s%n",
          WORLDS, sharing.isPresent(), usual, preemptorsFirst);
      assertThat(preemptorsFirst).isLessThan(usual);
    }
  }

  private static int endless(Optional<List<Strategy>> sharing, OrderingRules order) {
    EngineOptions options =
        new EngineOptions(options(sharing).fairSharing(), false, Optional.empty(), order);
    int endless = 0;
    for (long seed = 1; seed <= WORLDS; seed++) {
      TwinWorld world = new TwinWorld(List.of(new EngineProbe(options)));
      endless +=
          world.goesOn(new PressedWorld(seed, sharing.isPresent(), false).steps(), MANY) ? 1 : 0;
    }
    return endless;
  }

  private static EngineOptions options(Optional<List<Strategy>> sharing) {
    return new EngineOptions(
        sharing.map(strategies -> new FairSharing(strategies, false, false)), false);
  }
}
