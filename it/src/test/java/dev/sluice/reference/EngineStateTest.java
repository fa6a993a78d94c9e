package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.CopiedEngine;
import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import dev.sluice.reference.RandomWorld.Pods;
import dev.sluice.reference.ReferenceEngine.Waking;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;

/**
 * Random worlds in which an engine becomes a value and an engine again at random instants: it
 * decides, explains and shows the same as one that never did (docs/engine-state.md).
 */
class EngineStateTest {

  /** How many steps of each kind of world are played unless a property says otherwise. */
  private static final int STEPS = 800;

  @Test
  void withoutPreemptionNothingIsLost() {
    admit("state", seed -> new RandomWorld(seed, true, false), EngineOptions.DEFAULT);
    admit("state with fewer pods", seed -> of(seed, false, Pods.FEWER), EngineOptions.DEFAULT);
    admit("state of slices", seed -> of(seed, false, Pods.SLICES), EngineOptions.DEFAULT);
    admit(
        "state by policies", seed -> RandomWorld.withPolicies(seed, false), EngineOptions.DEFAULT);
  }

  @Test
  void whatBudgetsCountIsNotLost() {
    admit(
        "state under budgets",
        (seed, length) ->
            BudgetedWorld.steps(seed, new RandomWorld(seed, true, false).steps(length)),
        EngineOptions.DEFAULT);
  }

  @Test
  void theOrderOfCostIsNotLost() {
    admit(
        "state with costs",
        (seed, length) -> CostedWorld.steps(seed, new RandomWorld(seed, true, false).steps(length)),
        EngineOptions.DEFAULT);
  }

  @Test
  void whatIsReservedIsNotLost() {
    admit(
        "state under reservations",
        (seed, length) ->
            ReservedWorld.steps(seed, new RandomWorld(seed, true, false).steps(length)),
        EngineOptions.DEFAULT);
  }

  @Test
  void whatIsPromisedIsNotLost() {
    admit(
        "state under back-fill",
        (seed, length) -> BackfilledWorld.crowded(seed, length, false, Pods.SLICES),
        EngineOptions.DEFAULT);
  }

  @Test
  void whoIsHeldAndMayStartIsNotLost() {
    admit(
        "state of many held",
        (seed, length) -> HeldWorld.steps(seed, length, false),
        EngineOptions.DEFAULT);
  }

  @Test
  void theGateOfReadyPodsStaysClosed() {
    admit(
        "state one at a time",
        seed -> of(seed, false, Pods.GET_READY),
        new EngineOptions(Optional.empty(), true));
  }

  @Test
  void withPreemptionNothingIsLost() {
    preempt("state with preemption", seed -> of(seed, true, Pods.ALL), EngineStateTest::plain);
    preempt("state preempting fewer", seed -> of(seed, true, Pods.FEWER), EngineStateTest::plain);
    preempt("state preempting slices", seed -> of(seed, true, Pods.SLICES), EngineStateTest::plain);
    preempt(
        "state preempting by policies",
        seed -> RandomWorld.withPolicies(seed, true),
        EngineStateTest::plain);
  }

  @Test
  void withFairSharingNothingIsLost() {
    preempt(
        "state with fair sharing",
        seed -> RandomWorld.weighted(seed, Pods.ALL),
        EngineStateTest::fair);
    preempt(
        "state sharing fewer",
        seed -> RandomWorld.weighted(seed, Pods.FEWER),
        EngineStateTest::fair);
    preempt(
        "state sharing by policies",
        seed -> RandomWorld.withPolicies(seed, true),
        dice ->
            new EngineOptions(
                Optional.of(
                    new FairSharing(
                        List.of(Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE), true, true)),
                false));
  }

  @Test
  void whatIsUsedOfNodesIsNotLost() {
    preempt(
        "state of places",
        200,
        seed -> RandomWorld.placed(seed, false, Pods.ALL, false),
        dice -> placed(dice, false));
    preempt(
        "state of places preempting",
        200,
        seed -> RandomWorld.placed(seed, true, Pods.ALL, false),
        dice -> placed(dice, false));
    preempt(
        "state of places of fewer",
        200,
        seed -> RandomWorld.placed(seed, true, Pods.FEWER, false),
        dice -> placed(dice, false));
    preempt(
        "state of places sharing",
        200,
        seed -> RandomWorld.placed(seed, true, Pods.ALL, true),
        dice -> placed(dice, true));
    preempt(
        "state of places of slices",
        200,
        seed -> RandomWorld.placed(seed, true, Pods.SLICES, false),
        dice -> placed(dice, false));
  }

  @Test
  void usageOverTimeIsNotLost() {
    play("state of usage", 80, seed -> of(seed, true, Pods.ALL), dice -> used(dice, false));
    play(
        "state of usage by policies",
        80,
        seed -> RandomWorld.withPolicies(seed, true),
        dice -> used(dice, false));
    play(
        "state of usage sharing",
        80,
        seed -> RandomWorld.weighted(seed, Pods.ALL),
        dice -> used(dice, true));
    play("state of usage of slices", 80, seed -> of(seed, true, Pods.SLICES), d -> used(d, false));
  }

  @Test
  void whoLacksPlacesStillLooksForThem() {
    long placed =
        play(
            "state of second passes",
            200,
            seed -> RandomWorld.placed(seed, true, Pods.GET_READY, false),
            dice -> used(dice, false));
    placed +=
        play(
            "state of second passes of slices",
            200,
            seed -> RandomWorld.placed(seed, true, Pods.SLICES, false),
            dice -> used(dice, false));
    assertThat(placed).isPositive();
  }

  @Test
  void whoIsSkippedInACrowdIsNotLost() {
    play("state of a crowd", 300, seed -> RandomWorld.crowded(seed, false), EngineStateTest::plain);
    play(
        "state of a crowd sharing",
        300,
        seed -> RandomWorld.crowded(seed, true),
        EngineStateTest::fair);
  }

  @Test
  void aTreeAloneDecidesTheSame() {
    trees("state of trees", 80, seed -> of(seed, true, Pods.ALL), EngineStateTest::plain);
    trees("state of crowds", 300, seed -> RandomWorld.crowded(seed, true), EngineStateTest::fair);
    trees(
        "state of trees by policies",
        80,
        seed -> RandomWorld.withPolicies(seed, true),
        EngineStateTest::plain);
    trees(
        "state of trees with places",
        200,
        seed -> RandomWorld.placed(seed, true, Pods.SLICES, false),
        dice -> placed(dice, false));
  }

  private static void trees(
      String what,
      int length,
      LongFunction<RandomWorld> make,
      Function<Dice, EngineOptions> options) {
    AtomicLong compared = new AtomicLong();
    Worlds.play(
        what,
        STEPS,
        length,
        (seed, steps) -> make.apply(seed).steps(steps),
        (seed, world) -> {
          CopiedEngine engine = new CopiedEngine(options.apply(new Dice(seed)), seed);
          new CopiedWorld(engine, seed).play(world);
          compared.addAndGet(engine.compareTrees());
        });
    System.out.printf("property: compared=%s%n", compared);
    assertThat(compared).hasPositiveValue();
  }

  private static RandomWorld of(long seed, boolean preempting, Pods pods) {
    return new RandomWorld(seed, true, preempting, pods);
  }

  private static EngineOptions plain(Dice dice) {
    return EngineOptions.DEFAULT;
  }

  private static EngineOptions used(Dice dice, boolean fair) {
    return new EngineOptions(
        fair ? TopologyEnginesTest.fair(dice) : Optional.empty(),
        dice.chance(10),
        Optional.of(
            new AdmissionFairSharing(
                Duration.ofSeconds(dice.pick(new Integer[] {0, 20, 100})),
                Duration.ofSeconds(1 + dice.below(20)),
                Map.of("memory", 0.5),
                AdmissionFairSharing.Anchor.QUOTA_RESERVATION)),
        new OrderingRules(dice.chance(80), dice.chance(20), dice.chance(80))
            .withRepeats(PressedWorld.repeats(dice.below(100))),
        TopologyEnginesTest.topology(dice));
  }

  private static EngineOptions fair(Dice dice) {
    return new EngineOptions(TopologyEnginesTest.fair(dice), false);
  }

  private static EngineOptions placed(Dice dice, boolean fair) {
    return new EngineOptions(
        fair ? TopologyEnginesTest.fair(dice) : Optional.empty(),
        false,
        Optional.empty(),
        new OrderingRules(true, false, dice.chance(80)),
        TopologyEnginesTest.topology(dice));
  }

  private static void admit(String what, LongFunction<RandomWorld> make, EngineOptions options) {
    admit(what, (seed, length) -> make.apply(seed).steps(length), options);
  }

  private static void admit(
      String what, BiFunction<Long, Integer, List<Step>> make, EngineOptions options) {
    AtomicLong copies = new AtomicLong();
    AtomicLong admissions = new AtomicLong();
    Worlds.play(
        what,
        STEPS,
        make,
        (seed, world) -> {
          CopiedEngine engine = new CopiedEngine(options, seed);
          Rerun one =
              new Rerun(
                  Played.of(engine),
                  new ReferenceEngine(Duration.ofSeconds(10), Waking.HELPED, 32, true, options),
                  true);
          one.play(world);
          copies.addAndGet(engine.copies());
          admissions.addAndGet(one.admissions());
        });
    assertThat(copies).hasPositiveValue();
    assertThat(admissions).hasPositiveValue();
  }

  private static void preempt(
      String what, LongFunction<RandomWorld> make, Function<Dice, EngineOptions> options) {
    preempt(what, 80, make, options);
  }

  private static void preempt(
      String what,
      int length,
      LongFunction<RandomWorld> make,
      Function<Dice, EngineOptions> options) {
    AtomicLong copies = new AtomicLong();
    AtomicLong admissions = new AtomicLong();
    Worlds.play(
        what,
        STEPS,
        length,
        (seed, steps) -> make.apply(seed).steps(steps),
        (seed, world) -> {
          EngineOptions rules = options.apply(new Dice(seed));
          CopiedEngine engine = new CopiedEngine(rules, seed);
          PreemptionRerun rerun = new PreemptionRerun(Played.of(engine), rules);
          rerun.play(world);
          copies.addAndGet(engine.copies());
          admissions.addAndGet(rerun.admissions());
        });
    assertThat(copies).hasPositiveValue();
    assertThat(admissions).hasPositiveValue();
  }

  /** Plays worlds without a reference; returns how many decisions second passes led to. */
  private static long play(
      String what,
      int length,
      LongFunction<RandomWorld> make,
      Function<Dice, EngineOptions> options) {
    AtomicLong copies = new AtomicLong();
    AtomicLong admissions = new AtomicLong();
    AtomicLong placed = new AtomicLong();
    Worlds.play(
        what,
        STEPS,
        length,
        (seed, steps) -> make.apply(seed).steps(steps),
        (seed, world) -> {
          CopiedEngine engine = new CopiedEngine(options.apply(new Dice(seed)), seed);
          CopiedWorld played = new CopiedWorld(engine, seed);
          played.play(world);
          copies.addAndGet(engine.copies());
          admissions.addAndGet(played.admissions());
          placed.addAndGet(played.placed());
        });
    System.out.printf("property: copies=%s admissions=%s placed=%s%n", copies, admissions, placed);
    assertThat(copies).hasPositiveValue();
    assertThat(admissions).hasPositiveValue();
    return placed.get();
  }
}
