package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.CopiedEngine;
import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineProbe;
import dev.sluice.core.model.PlannedStart.LateCause;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import dev.sluice.reference.RandomWorld.Pods;
import dev.sluice.reference.ReferenceEngine.Waking;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;

/**
 * Random worlds in which back-fill meets other rules, played to the engine and to the reference.
 */
class BackfillAgainstReferenceTest {

  /** Longer where much is declared before anything happens. */
  private static final int PLACED_LENGTH = 200;

  private static final EngineOptions ONE_AT_A_TIME = new EngineOptions(Optional.empty(), true);

  @Test
  void slicesStartBeforeHeadsTheSame() {
    play("back-fill of slices", 4_000, of(false, Pods.SLICES), seed -> admitting());
    play(
        "back-fill and preemption by slices",
        4_000,
        of(true, Pods.SLICES),
        seed -> preempting(EngineOptions.DEFAULT));
  }

  @Test
  void whoMayStartWithFewerPodsStartsBeforeHeadsTheSame() {
    play("back-fill with fewer pods", 4_000, of(false, Pods.FEWER), seed -> admitting());
    play(
        "back-fill, fewer pods and preemption",
        4_000,
        of(true, Pods.FEWER),
        seed -> preempting(EngineOptions.DEFAULT));
  }

  /** Scheduling semantics, section 13. */
  @Test
  void variantsStartBeforeHeadsTheSame() {
    play(
        "back-fill of variants",
        4_000,
        of(true, Pods.VARIANTS),
        seed -> preempting(EngineOptions.DEFAULT));
  }

  @Test
  void nobodyStartsBeforeHeadsWhilePodsAreNotReady() {
    play(
        "back-fill one at a time",
        12_000,
        of(false, Pods.GET_READY),
        seed ->
            new Rerun(
                ONE_AT_A_TIME,
                new ReferenceEngine(Duration.ofSeconds(10), Waking.HELPED, 32, true, ONE_AT_A_TIME),
                true));
  }

  @Test
  void whoStartsBeforeHeadsIsPlacedTheSame() {
    play(
        "back-fill of places",
        4_000,
        PLACED_LENGTH,
        placed(false, Pods.ALL),
        seed -> placing(seed));
    play(
        "back-fill of places and preemption",
        4_000,
        PLACED_LENGTH,
        placed(true, Pods.ALL),
        seed -> placing(seed));
  }

  /**
   * Limits on numbers, guarantees, rates and priorities of queues, and pods that a queue awaits.
   */
  @Test
  void policiesHoldTheSameWithPlannedStarts() {
    play("back-fill by policies", 12_000, withPolicies(false), seed -> admitting());
    play(
        "crowded back-fill with limits",
        4_000,
        (seed, length) -> BackfilledWorld.limited(seed, length, false),
        seed -> admitting());
    play(
        "back-fill and preemption by policies",
        12_000,
        withPolicies(true),
        seed -> preempting(EngineOptions.DEFAULT));
  }

  /** Changes of 0.20, section 5, and docs/quota-by-time.md: to the engine both are edits. */
  @Test
  void quotasThatChangeMovePlannedStartsTheSame() {
    play(
        "crowded back-fill and capacity that changes",
        4_000,
        (seed, length) ->
            CapacityWorld.steps(seed, BackfilledWorld.crowded(seed, length, false, false)),
        seed -> admitting());
  }

  /** Time axis, sections 7 and 10: nobody is planned in flavors that cost more than allowed. */
  @Test
  void whoMayPayOnlySoMuchIsPlannedTheSame() {
    play(
        "crowded back-fill by cost",
        8_000,
        (seed, length) ->
            CostedWorld.steps(seed, BackfilledWorld.crowded(seed, length, false, false)),
        seed -> admitting());
    play(
        "back-fill and preemption by cost",
        8_000,
        (seed, length) ->
            BackfilledWorld.steps(
                seed, CostedWorld.steps(seed, new RandomWorld(seed, true, true).steps(length))),
        seed -> preempting(EngineOptions.DEFAULT));
  }

  /** Time axis, section 10. */
  @Test
  void noPromiseIsBrokenWhereEverybodyEndsInTime() {
    keep("kept promises", false, Set.of());
  }

  @Test
  void onlyThoseThatComeBeforeBreakPromises() {
    keep("promises and priorities", true, Set.of(LateCause.HIGHER_PRIORITY));
  }

  private static void keep(String what, boolean priorities, Set<LateCause> causes) {
    AtomicLong kept = new AtomicLong();
    AtomicLong starts = new AtomicLong();
    Set<LateCause> found = ConcurrentHashMap.newKeySet();
    Worlds.play(
        what,
        8_000,
        (seed, length) -> BackfilledWorld.inTime(seed, length, priorities),
        (seed, world) -> {
          Rerun rerun =
              new Rerun(
                  Played.of(new CopiedEngine(EngineOptions.DEFAULT, seed)),
                  Rerun.reference(Waking.HELPED),
                  true);
          rerun.play(world);
          Stage.require(causes.containsAll(rerun.causes()), "late by " + rerun.causes());
          found.addAll(rerun.causes());
          kept.addAndGet(rerun.kept());
          starts.addAndGet(rerun.starts());
        });
    System.out.printf("property: starts=%s kept=%s%n", starts, kept);
    assertThat(found).isEqualTo(causes);
    assertThat(starts).hasPositiveValue();
    assertThat(kept).hasPositiveValue();
  }

  private static Stage admitting() {
    return new Rerun(Rerun.reference(Waking.HELPED), true);
  }

  private static Stage preempting(EngineOptions options) {
    return new PreemptionRerun(Played.of(new EngineProbe(options)), options);
  }

  private static Stage placing(long seed) {
    Dice dice = new Dice(seed);
    return preempting(
        new EngineOptions(
            Optional.empty(),
            false,
            Optional.empty(),
            new OrderingRules(true, false, dice.chance(80)),
            TopologyEnginesTest.topology(dice)));
  }

  private static BiFunction<Long, Integer, List<Step>> of(boolean preempting, Pods pods) {
    return (seed, length) -> BackfilledWorld.crowded(seed, length, preempting, pods);
  }

  private static BiFunction<Long, Integer, List<Step>> withPolicies(boolean preempting) {
    return (seed, length) ->
        BackfilledWorld.steps(seed, RandomWorld.withPolicies(seed, preempting).steps(length));
  }

  private static BiFunction<Long, Integer, List<Step>> placed(boolean preempting, Pods pods) {
    return (seed, length) ->
        BackfilledWorld.steps(
            seed, RandomWorld.placed(seed, preempting, pods, false).steps(length));
  }

  private static void play(
      String what,
      int steps,
      BiFunction<Long, Integer, List<Step>> make,
      LongFunction<Stage> stages) {
    play(what, steps, Worlds.LENGTH, make, stages);
  }

  private static void play(
      String what,
      int steps,
      int length,
      BiFunction<Long, Integer, List<Step>> make,
      LongFunction<Stage> stages) {
    AtomicLong starts = new AtomicLong();
    AtomicLong plans = new AtomicLong();
    AtomicLong moves = new AtomicLong();
    Worlds.play(
        what,
        steps,
        length,
        make,
        (seed, world) -> {
          Stage stage = stages.apply(seed);
          stage.play(world);
          starts.addAndGet(stage.starts());
          plans.addAndGet(stage.plans());
          moves.addAndGet(stage.moves());
        });
    System.out.printf("property: starts=%s plans=%s moves=%s%n", starts, plans, moves);
    assertThat(starts).hasPositiveValue();
    assertThat(plans).hasPositiveValue();
  }
}
