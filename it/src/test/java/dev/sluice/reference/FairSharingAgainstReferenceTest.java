package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineProbe;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import dev.sluice.reference.RandomWorld.Pods;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;

/** Random worlds whose queues share fairly, played to the engine and to the reference. */
class FairSharingAgainstReferenceTest {

  private static final List<List<Strategy>> STRATEGIES =
      List.of(
          List.of(Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE),
          List.of(Strategy.LESS_THAN_INITIAL_SHARE),
          List.of(Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, Strategy.LESS_THAN_INITIAL_SHARE));

  @Test
  void everyCycleDecidesTheSameInTheSameOrder() {
    play("fair sharing", 30_000, Pods.ALL);
  }

  /** Changes of 0.20, section 4, FairSharingRefill. */
  @Test
  void theSameJoinACycle() {
    play(
        "fair sharing with refill",
        10_000,
        true,
        (seed, length) -> RandomWorld.weighted(seed, Pods.ALL).steps(length));
  }

  /** Changes of 0.20, section 4, FairSharingRefill: where many wait, and rules protect some. */
  @Test
  void theSameJoinACycleWhereEverybodyPressesIn() {
    play(
        "fair sharing with refill under pressure",
        6_000,
        true,
        (seed, length) -> new PressedWorld(seed, true).stepsAndMore(length));
  }

  @Test
  void whoMayStartWithFewerPodsSharesTheSame() {
    play("fair sharing with fewer pods", 6_000, Pods.FEWER);
  }

  /** Scheduling semantics, section 13. */
  @Test
  void variantsShareTheSame() {
    play("fair sharing with variants", 6_000, Pods.VARIANTS);
  }

  @Test
  void rulesProtectTheSameWhereEverybodyPressesIn() {
    play(
        "fair sharing under pressure",
        20_000,
        (seed, length) -> new PressedWorld(seed, true).stepsAndMore(length));
  }

  @Test
  void whoPreemptedTheSameAgainSharesTheSame() {
    for (boolean refills : List.of(false, true)) {
      play(
          refills ? "repeated preemption by shares with refill" : "repeated preemption by shares",
          12_000,
          (seed, length) -> new PressedWorld(seed, true, false).stepsAndMore(length),
          seed -> rerun(seed, refills, PressedWorld.repeats(seed)));
    }
  }

  /** Changes of 0.20, section 6. */
  @Test
  void rulesOfPreemptionConfigsChooseTheSameWhereQueuesShare() {
    play(
        "fair sharing with PreemptionConfigs",
        20_000,
        (seed, length) -> PressedWorld.configured(seed, true).stepsAndMore(length));
  }

  /** Changes of 0.20, section 5. */
  @Test
  void quotasThatFollowCapacityAreSharedTheSame() {
    play(
        "fair sharing of capacity that changes",
        6_000,
        (seed, length) ->
            CapacityWorld.steps(seed, RandomWorld.weighted(seed, Pods.ALL).steps(length)));
  }

  @Test
  void flavorsAreTriedInTheOrderOfCostWhereQueuesShare() {
    play(
        "fair sharing with costs",
        10_000,
        (seed, length) ->
            CostedWorld.steps(seed, RandomWorld.weighted(seed, Pods.ALL).steps(length)));
  }

  @Test
  void theSameStartBeforeHeadsThatArePlannedWhereQueuesShare() {
    play(
        "crowded back-fill and fair sharing",
        5_000,
        (seed, length) -> BackfilledWorld.crowded(seed, length, true, true));
    play(
        "crowded back-fill and fair sharing with refill",
        3_000,
        true,
        (seed, length) -> BackfilledWorld.crowded(seed, length, true, true));
  }

  /** In this world a Workload that was skipped is overtaken by one that a release wakes. */
  @Test
  void anOvertakenWorkloadBeginsAnewWithItsFlavors() {
    long seed = 9_464;
    rerun(seed).play(new PressedWorld(seed, true).stepsAndMore(Worlds.LENGTH));
  }

  /**
   * In this world a preemptor comes to its flavors in every second cycle only: a Workload that it
   * holds back fits in the cycles between.
   */
  @Test
  void aPreemptorHoldsNobodyBackWhileItTriesOtherFlavors() {
    long seed = 560_005_760;
    rerun(seed)
        .play(CostedWorld.steps(seed, RandomWorld.weighted(seed, Pods.ALL).steps(Worlds.LENGTH)));
  }

  private static PreemptionRerun rerun(long seed) {
    return rerun(seed, false);
  }

  private static PreemptionRerun rerun(long seed, boolean refills) {
    return rerun(seed, refills, OrderingRules.DEFAULT.repeatLimit());
  }

  private static PreemptionRerun rerun(long seed, boolean refills, PreemptionLimit repeats) {
    EngineOptions options =
        new EngineOptions(
            Optional.of(rules(new Dice(seed), refills)),
            false,
            Optional.empty(),
            OrderingRules.DEFAULT.withRepeats(repeats));
    return new PreemptionRerun(Played.of(new EngineProbe(options)), options);
  }

  private static void play(String what, int steps, Pods pods) {
    play(what, steps, (seed, length) -> RandomWorld.weighted(seed, pods).steps(length));
  }

  private static void play(String what, int steps, BiFunction<Long, Integer, List<Step>> make) {
    play(what, steps, false, make);
  }

  private static void play(
      String what, int steps, boolean refills, BiFunction<Long, Integer, List<Step>> make) {
    play(what, steps, make, seed -> rerun(seed, refills));
  }

  private static void play(
      String what,
      int steps,
      BiFunction<Long, Integer, List<Step>> make,
      LongFunction<PreemptionRerun> reruns) {
    AtomicLong preemptions = new AtomicLong();
    AtomicLong victims = new AtomicLong();
    AtomicLong admissions = new AtomicLong();
    AtomicLong plans = new AtomicLong();
    Worlds.play(
        what,
        steps,
        make,
        (seed, world) -> {
          PreemptionRerun rerun = reruns.apply(seed);
          rerun.play(world);
          preemptions.addAndGet(rerun.preemptions());
          victims.addAndGet(rerun.victims());
          admissions.addAndGet(rerun.admissions());
          plans.addAndGet(rerun.plans());
        });
    System.out.printf(
        "property: admissions=%s preemptions=%s victims=%s plans=%s%n",
        admissions, preemptions, victims, plans);
    assertThat(plans.get() > 0).isEqualTo(what.contains("back-fill"));
    assertThat(victims).hasPositiveValue();
  }

  private static FairSharing rules(Dice dice, boolean refills) {
    return new FairSharing(
        STRATEGIES.get(dice.below(STRATEGIES.size())), dice.chance(75), dice.chance(75), refills);
  }
}
