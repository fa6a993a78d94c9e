package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineProbe;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import dev.sluice.core.topology.TopologyOptions;
import dev.sluice.core.topology.TopologyOptions.PlacementRules;
import dev.sluice.reference.RandomWorld.Pods;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * Random worlds in which pods are placed on nodes, played to the engine and to the reference: both
 * decide the same in every cycle, places included.
 */
class TopologyEnginesTest {

  @Test
  void whoPreemptsForPlacesDecidesTheSame() {
    play("places and preemption", 8_000, true, placed(true, Pods.ALL, false), NO_SHARING);
  }

  @Test
  void whoMayStartWithFewerPodsIsPlacedTheSame() {
    play("places with fewer pods", 4_000, true, placed(true, Pods.FEWER, false), NO_SHARING);
  }

  @Test
  void whoSharesFairlyIsPlacedTheSame() {
    play(
        "places and fair sharing",
        6_000,
        true,
        placed(true, Pods.ALL, true),
        TopologyEnginesTest::fair);
  }

  @Test
  void whoPreemptsNobodyIsPlacedTheSame() {
    play("places", 6_000, false, placed(false, Pods.ALL, false), NO_SHARING);
  }

  @Test
  void elasticJobsGrowAndShrinkTheSame() {
    play("places of elastic jobs", 3_000, false, placed(false, Pods.SLICES, false), NO_SHARING);
    play("places of slices", 4_000, true, placed(true, Pods.SLICES, false), NO_SHARING);
  }

  @Test
  void flavorsAreTriedInTheOrderOfCostForPlaces() {
    play("places with costs", 4_000, true, costed(placed(true, Pods.ALL, false)), NO_SHARING);
    play(
        "places with costs and fair sharing",
        4_000,
        true,
        costed(placed(true, Pods.ALL, true)),
        TopologyEnginesTest::fair);
  }

  @Test
  void groupsAreSpreadTheSame() {
    play("groups", 20_000, false, spread(placed(false, Pods.ALL, false)), NO_SHARING);
    play("groups and preemption", 8_000, true, spread(placed(true, Pods.FEWER, false)), NO_SHARING);
    play("groups of slices", 4_000, true, spread(placed(true, Pods.SLICES, false)), NO_SHARING);
    play(
        "groups and fair sharing",
        6_000,
        true,
        spread(placed(true, Pods.ALL, true)),
        TopologyEnginesTest::fair);
  }

  /** Changes of 0.20, section 6: also where targets of other trees free nodes. */
  @Test
  void rulesOfPreemptionConfigsFreeTheSamePlaces() {
    play(
        "places and PreemptionConfigs",
        6_000,
        true,
        configured(placed(true, Pods.ALL, false)),
        NO_SHARING);
    play(
        "places, PreemptionConfigs and fair sharing",
        6_000,
        true,
        configured(placed(true, Pods.ALL, true)),
        TopologyEnginesTest::fair);
  }

  @Test
  void windowsOfNodesHoldTheSame() {
    play("windows of nodes", 6_000, false, reserved(placed(false, Pods.ALL, false)), NO_SHARING);
    play(
        "windows of nodes and preemption",
        6_000,
        true,
        reserved(placed(true, Pods.FEWER, false)),
        NO_SHARING);
  }

  /** Longer than others, because much is declared before anything happens. */
  private static final int LENGTH = 200;

  private static final Function<Dice, Optional<FairSharing>> NO_SHARING = dice -> Optional.empty();

  private static BiFunction<Long, Integer, List<Step>> placed(
      boolean preempting, Pods pods, boolean fair) {
    return (seed, length) -> RandomWorld.placed(seed, preempting, pods, fair).steps(length);
  }

  private static BiFunction<Long, Integer, List<Step>> reserved(
      BiFunction<Long, Integer, List<Step>> make) {
    return (seed, length) -> ReservedWorld.placed(seed, make.apply(seed, length));
  }

  private static BiFunction<Long, Integer, List<Step>> spread(
      BiFunction<Long, Integer, List<Step>> make) {
    return (seed, length) -> SpreadWorld.steps(seed, make.apply(seed, length));
  }

  private static BiFunction<Long, Integer, List<Step>> configured(
      BiFunction<Long, Integer, List<Step>> make) {
    return (seed, length) -> RandomRules.configured(seed, make.apply(seed, length));
  }

  private static BiFunction<Long, Integer, List<Step>> costed(
      BiFunction<Long, Integer, List<Step>> make) {
    return (seed, length) -> CostedWorld.steps(seed, make.apply(seed, length));
  }

  private static void play(
      String what,
      int steps,
      boolean preempting,
      BiFunction<Long, Integer, List<Step>> make,
      Function<Dice, Optional<FairSharing>> sharing) {
    AtomicLong preemptions = new AtomicLong();
    AtomicLong admissions = new AtomicLong();
    Worlds.play(
        what,
        steps,
        LENGTH,
        make,
        (seed, world) -> {
          Dice dice = new Dice(seed);
          EngineOptions options =
              new EngineOptions(
                  sharing.apply(dice),
                  false,
                  Optional.empty(),
                  new OrderingRules(true, false, dice.chance(80))
                      .withRepeats(PressedWorld.repeats(seed)),
                  topology(dice));
          PreemptionRerun rerun = new PreemptionRerun(Played.of(new EngineProbe(options)), options);
          rerun.play(world);
          preemptions.addAndGet(rerun.preemptions());
          admissions.addAndGet(rerun.admissions());
        });
    System.out.printf("property: admissions=%s preemptions=%s%n", admissions, preemptions);
    assertThat(admissions).hasPositiveValue();
    if (preempting) {
      assertThat(preemptions).hasPositiveValue();
    }
  }

  static Optional<FairSharing> fair(Dice dice) {
    return Optional.of(
        new FairSharing(
            dice.chanceOfHalf()
                ? List.of(Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE)
                : List.of(
                    Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, Strategy.LESS_THAN_INITIAL_SHARE),
            dice.chance(75),
            dice.chance(75)));
  }

  /**
   * With gates on or off, TASHandleOverlappingFlavors and
   * TASRecomputeAssignmentWithinSchedulingCycle among them.
   */
  static TopologyOptions topology(Dice dice) {
    return new TopologyOptions(
        true,
        new PlacementRules(
            dice.chance(70),
            dice.chance(50),
            false,
            dice.chance(70),
            dice.chance(80),
            dice.chance(20)),
        dice.chance(80),
        dice.chance(80),
        true,
        true,
        dice.chance(80));
  }
}
