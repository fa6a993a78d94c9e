package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineProbe;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import dev.sluice.reference.RandomWorld.Pods;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;

/** Random worlds in which everybody preempts, played to the engine and to the reference. */
class PreemptionAgainstReferenceTest {

  @Test
  void everyCycleDecidesTheSameInTheSameOrder() {
    play("preemption", 40_000, Pods.ALL);
  }

  @Test
  void whoMayStartWithFewerPodsPreemptsTheSame() {
    play("preemption with fewer pods", 6_000, Pods.FEWER);
  }

  @Test
  void slicesOfElasticJobsPreemptTheSame() {
    play("preemption by slices", 6_000, Pods.SLICES);
  }

  /** Scheduling semantics, section 13. */
  @Test
  void variantsMoveTheSame() {
    play("preemption by variants", 12_000, Pods.VARIANTS);
  }

  @Test
  void rulesProtectTheSameWhereEverybodyPressesIn() {
    play(
        "preemption under pressure",
        20_000,
        (seed, length) -> new PressedWorld(seed, false).stepsAndMore(length));
  }

  @Test
  void whoPreemptedTheSameAgainDecidesTheSame() {
    play(
        "repeated preemption",
        20_000,
        (seed, length) -> new PressedWorld(seed, false, false).stepsAndMore(length),
        seed -> OrderingRules.DEFAULT.withRepeats(PressedWorld.repeats(seed)));
    play(
        "repeated preemption with several flavors",
        8_000,
        (seed, length) -> new RandomWorld(seed, true, true, Pods.FEWER).steps(length),
        seed -> OrderingRules.DEFAULT.withRepeats(PressedWorld.repeats(seed)));
  }

  /** Changes of 0.20, section 6. */
  @Test
  void rulesOfPreemptionConfigsChooseTheSame() {
    play(
        "preemption by PreemptionConfigs",
        20_000,
        (seed, length) -> PressedWorld.configured(seed, false).stepsAndMore(length));
  }

  /** Changes of 0.20, section 5. */
  @Test
  void quotasThatFollowCapacityAreTheSame() {
    play(
        "preemption and capacity that changes",
        10_000,
        (seed, length) ->
            CapacityWorld.steps(seed, new RandomWorld(seed, true, true).steps(length)));
  }

  @Test
  void flavorsAreTriedInTheOrderOfCostWhereOthersArePreempted() {
    play(
        "preemption with costs",
        10_000,
        (seed, length) -> CostedWorld.steps(seed, new RandomWorld(seed, true, true).steps(length)));
  }

  @Test
  void reservationsHoldTheSameWhereWorkloadsArePreempted() {
    play(
        "reservations and preemption",
        12_000,
        (seed, length) ->
            ReservedWorld.steps(seed, new RandomWorld(seed, true, true, Pods.ALL).steps(length)));
  }

  @Test
  void manyThatAreHeldStartInTheSameOrderWhereWorkloadsArePreempted() {
    play(
        "many held for reservations, and preemption",
        8_000,
        (seed, length) -> HeldWorld.steps(seed, length, true));
  }

  @Test
  void theSameStartBeforeHeadsThatArePlannedWhereWorkloadsArePreempted() {
    play(
        "crowded back-fill and preemption",
        8_000,
        (seed, length) -> BackfilledWorld.crowded(seed, length, true, false));
    play(
        "back-fill and preemption",
        4_000,
        (seed, length) ->
            BackfilledWorld.steps(seed, new RandomWorld(seed, true, true, Pods.ALL).steps(length)));
    play(
        "crowded back-fill, reservations and preemption",
        8_000,
        (seed, length) ->
            ReservedWorld.steps(seed, BackfilledWorld.crowded(seed, length, true, false)));
  }

  /** In this world a Workload that was skipped is overtaken in its queue, and quota is released. */
  @Test
  void anOvertakenWorkloadBeginsAnewWithItsFlavors() {
    new PreemptionRerun(Played.of(new EngineProbe()))
        .play(new PressedWorld(1_973, false).stepsAndMore(Worlds.LENGTH));
  }

  private static void play(String what, int steps, Pods pods) {
    play(what, steps, (seed, length) -> new RandomWorld(seed, true, true, pods).steps(length));
  }

  private static void play(String what, int steps, BiFunction<Long, Integer, List<Step>> make) {
    play(what, steps, make, seed -> OrderingRules.DEFAULT);
  }

  private static void play(
      String what,
      int steps,
      BiFunction<Long, Integer, List<Step>> make,
      LongFunction<OrderingRules> order) {
    AtomicLong preemptions = new AtomicLong();
    AtomicLong victims = new AtomicLong();
    AtomicLong admissions = new AtomicLong();
    AtomicLong starts = new AtomicLong();
    AtomicLong plans = new AtomicLong();
    AtomicLong moves = new AtomicLong();
    AtomicLong overstays = new AtomicLong();
    Worlds.play(
        what,
        steps,
        make,
        (seed, world) -> {
          EngineOptions options =
              new EngineOptions(Optional.empty(), false, Optional.empty(), order.apply(seed));
          PreemptionRerun rerun = new PreemptionRerun(Played.of(new EngineProbe(options)), options);
          rerun.play(world);
          preemptions.addAndGet(rerun.preemptions());
          victims.addAndGet(rerun.victims());
          admissions.addAndGet(rerun.admissions());
          starts.addAndGet(rerun.starts());
          plans.addAndGet(rerun.plans());
          moves.addAndGet(rerun.moves());
          overstays.addAndGet(rerun.overstays());
        });
    System.out.printf(
        "property: admissions=%s preemptions=%s victims=%s starts=%s plans=%s moves=%s"
            + " overstays=%s%n",
        admissions, preemptions, victims, starts, plans, moves, overstays);
    assertThat(plans.get() > 0).isEqualTo(what.contains("back-fill"));
    assertThat(overstays.get() > 0).isEqualTo(what.contains("reservations"));
    assertThat(victims).hasPositiveValue();
  }
}
