package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.reference.RandomWorld.Pods;
import dev.sluice.testing.BuildBreadth;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The comparison in random worlds finds each violation of a rule of placement: a reference that
 * breaks one rule plays the engine.
 */
@Tag(BuildBreadth.NIGHTLY)
class TopologyFlawsTest {

  /** How many worlds at most until a violation is found. */
  private static final int MOST = 3_000;

  /** The rules of elastic jobs, which are played in worlds that have them. */
  private static final Set<TopologyFlaw> OF_SLICES =
      EnumSet.of(
          TopologyFlaw.SLICES_ARE_PLACED_ANEW,
          TopologyFlaw.SLICES_SHARE_NO_PLACES,
          TopologyFlaw.ANYBODY_GROWS);

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void isFound(TopologyFlaw flaw) {
    long worlds = 1;
    while (worlds <= MOST && !differs(worlds, flaw)) {
      worlds++;
    }
    System.out.printf("planted: %s found in world %d%n", flaw, worlds);
    assertThat(worlds).isLessThanOrEqualTo(MOST);
  }

  @Test
  void nothingIsFoundWhereNoRuleIsBroken() {
    for (long seed = 1; seed <= 40; seed++) {
      assertThat(differs(seed, TopologyFlaw.NONE)).as("seed " + seed).isFalse();
    }
  }

  private static boolean differs(long seed, TopologyFlaw flaw) {
    Pods pods = OF_SLICES.contains(flaw) ? Pods.SLICES : Pods.ALL;
    List<Step> world = RandomWorld.placed(seed, seed % 4 != 0, pods, false).steps(160);
    EngineOptions options =
        new EngineOptions(
            Optional.empty(),
            false,
            Optional.empty(),
            EngineOptions.DEFAULT.order(),
            TopologyEnginesTest.topology(new Dice(seed)));
    ReferenceEngine flawed =
        new ReferenceEngine(
            Duration.ofSeconds(10), ReferenceEngine.Waking.ALL, 32, true, options, flaw);
    try {
      new PreemptionRerun(Played.of(flawed), options).play(world);
      return false;
    } catch (AssertionError | RuntimeException e) {
      return true;
    }
  }
}
